import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from '../support/place.ts';
import { startProgram } from './program.ts';

describe.concurrent('a start', () => {
  it('wonders about a setting that nobody reads, and goes on without it', async ({ onTestFinished: atEnd }) => {
    const folder = aFolder(atEnd);
    writeFileSync(
      join(folder, '.env'),
      'DATABASE_URL=file:c.db\nRETENTION_DAY=30\nTELEGRAM_BOT=x\nCOMPOSE_PROJECT_NAME=x\n',
    );
    const program = startProgram(folder, {}, atEnd);
    await program.url();
    const wondered = program.lines().filter(({ event }) => event === 'unknown_variable');
    expect(wondered).toEqual([
      expect.objectContaining({ level: 'warn', variable: 'RETENTION_DAY', nearest: 'RETENTION_DAYS' }),
      expect.objectContaining({ level: 'warn', variable: 'TELEGRAM_BOT', nearest: null }),
    ]);
    program.kill('SIGINT');
    expect(await program.ended).toBe(0);
  });

  it('is refused with 78 and a sentence when .env cannot be read', async ({ onTestFinished: atEnd }) => {
    const folder = aFolder(atEnd);
    mkdirSync(join(folder, '.env'));
    const program = startProgram(folder, {}, atEnd);
    expect(await program.ended).toBe(78);
    expect(program.written()).toMatch(/^\.env cannot be read \([A-Z_]+\)\. Example: .+\n$/);
  });

  it('is refused with 1 and a sentence when another process has the database', async ({ onTestFinished: atEnd }) => {
    const folder = aFolder(atEnd);
    const first = startProgram(folder, { DATABASE_URL: 'file:c.db' }, atEnd);
    await first.url();
    const second = startProgram(folder, { DATABASE_URL: 'file:c.db' }, atEnd);
    expect(await second.ended).toBe(1);
    expect(second.written()).toMatch(new RegExp(`held by process ${first.pid} on .+ stop that one first\\.`));
    expect(second.written()).not.toContain('    at ');
  });
});
