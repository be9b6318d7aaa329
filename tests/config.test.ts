import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createIds, sha256 } from '../src/adapters/system/ids.ts';
import { tokenFrom } from '../src/adapters/system/token-file.ts';
import { readConfig } from '../src/config.ts';
import { retentionDaysMin } from '../src/domain/policy.ts';

const folders: string[] = [];

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cronogram-config-'));
  folders.push(folder);
  return folder;
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

describe('the configuration', () => {
  it('needs nothing, and takes an empty variable for an absent one', () => {
    expect(readConfig({ HTTP_PORT: '', API_TOKEN: '' })).toMatchObject({
      config: {
        DATABASE_URL: 'file:data/cronogram.db',
        HTTP_HOST: '127.0.0.1',
        HTTP_PORT: 8787,
        MIN_INTERVAL: 60_000,
        ECHO_ACTION: false,
      },
    });
  });

  it('tells every fault at once: the variable, what is wrong, an example', () => {
    const read = readConfig({
      HTTP_PORT: '99999',
      MIN_INTERVAL: '1 minute',
      DATABASE_URL: 'mysql://x',
      API_TOKEN: 'a b',
      LOG_LEVEL: 'loud',
    });
    const faults = 'faults' in read ? read.faults : [];
    expect(faults.map(({ variable }) => variable).sort()).toEqual([
      'API_TOKEN',
      'DATABASE_URL',
      'HTTP_PORT',
      'LOG_LEVEL',
      'MIN_INTERVAL',
    ]);
    expect(faults.every(({ problem, example }) => problem.length > 5 && example !== '')).toBe(true);
    expect(JSON.stringify(faults)).not.toContain('a b');
  });

  it('reads who owns the bot and which chats are approved, and refuses what is no id', () => {
    expect(readConfig({ TELEGRAM_OWNERS: '1001, 1002', TELEGRAM_CHATS: '-1001234567890,1002' })).toMatchObject({
      config: { TELEGRAM_OWNERS: ['1001', '1002'], TELEGRAM_CHATS: ['-1001234567890', '1002'] },
    });
    for (const given of [{ TELEGRAM_OWNERS: '@ada' }, { TELEGRAM_OWNERS: '-1001' }, { TELEGRAM_CHATS: '1001;1002' }])
      expect(readConfig(given)).toMatchObject({ faults: [{ variable: Object.keys(given)[0] }] });
  });

  it('wants the address and the secret of a webhook together', () => {
    const url = 'https://bot.example.org/telegram';
    const secret = 'a-secret-of-sound-length';
    expect(readConfig({ TELEGRAM_WEBHOOK_URL: url, TELEGRAM_WEBHOOK_SECRET: secret })).toHaveProperty('config');
    expect(readConfig({ TELEGRAM_WEBHOOK_URL: url })).toMatchObject({
      faults: [{ variable: 'TELEGRAM_WEBHOOK_SECRET' }],
    });
    expect(readConfig({ TELEGRAM_WEBHOOK_SECRET: secret })).toMatchObject({
      faults: [{ variable: 'TELEGRAM_WEBHOOK_URL' }],
    });
  });

  it('writes the zone of chats as it is called today, and refuses what is none', () => {
    expect(readConfig({ DEFAULT_TIMEZONE: 'europe/madrid' })).toMatchObject({
      config: { DEFAULT_TIMEZONE: 'Europe/Madrid' },
    });
    expect(readConfig({ DEFAULT_TIMEZONE: 'Atlantis' })).toMatchObject({ faults: [{ variable: 'DEFAULT_TIMEZONE' }] });
  });

  it('keeps history for longer than the longest retry, or says the least number of days', () => {
    expect(readConfig({ RETENTION_DAYS: String(retentionDaysMin()) })).toMatchObject({
      config: { RETENTION_DAYS: retentionDaysMin() },
    });
    for (const days of [String(retentionDaysMin() - 1), '0', '-3', '30.5', '1e3', 'x', '36501', '99999']) {
      const read = readConfig({ RETENTION_DAYS: days });
      expect(read, days).toMatchObject({ faults: [{ variable: 'RETENTION_DAYS', example: '90' }] });
      expect('faults' in read ? read.faults[0]?.problem : '').toContain(
        `at least ${retentionDaysMin()} and at most 36500`,
      );
    }
    expect(readConfig({})).toMatchObject({ config: { RETENTION_DAYS: 90, BACKUP_KEEP: 7 } });
  });

  it('reads a secret from a file, and refuses to guess between two', () => {
    const file = join(aFolder(), 'token');
    writeFileSync(file, 'a-token-from-a-file\n');
    expect(readConfig({ API_TOKEN_FILE: file })).toMatchObject({ config: { API_TOKEN: 'a-token-from-a-file' } });
    expect(readConfig({ API_TOKEN_FILE: file, API_TOKEN: 'another-token-here' })).toMatchObject({
      faults: [{ variable: 'API_TOKEN_FILE' }],
    });
    expect(readConfig({ API_TOKEN_FILE: `${file}.missing` })).toMatchObject({
      faults: [{ problem: 'cannot be read (ENOENT)' }],
    });
  });
});

describe('the token of the API', () => {
  it('is made once, kept, and readable by its owner alone', () => {
    const file = join(aFolder(), 'deep', 'api-token');
    const token = tokenFrom(file);
    expect(token.length).toBeGreaterThanOrEqual(43);
    expect(tokenFrom(file)).toBe(token);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

describe('ids', () => {
  it('are version 7 UUIDs that count up within a millisecond, over its end, and when the clock goes back', () => {
    let now = 1_800_000_000_000;
    const ids = createIds(() => now);
    const made = Array.from({ length: 10_000 }, () => ids.next());
    now -= 3_600_000;
    made.push(...Array.from({ length: 100 }, () => ids.next()));
    expect(made.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))).toBe(
      true,
    );
    expect(made.toSorted()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
  });

  it('and digests do not collide for different texts', () => {
    expect(sha256.of('a')).toHaveLength(43);
    expect(sha256.of('a')).not.toBe(sha256.of('b'));
  });
});
