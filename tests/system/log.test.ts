import { expect, it } from 'vitest';
import { shortLine } from '../../src/system/log.ts';

it('is one short line on a terminal, which no value can break or steer', () => {
  const facts = { task: 'poll', ms: 4, error: 'first\n  second \u001B[2J', cause: null, stack: 'x'.repeat(500) };
  const line = shortLine(
    JSON.stringify({ level: 'warn', time: '2026-11-18T09:00:00.000Z', event: 'telegram_trouble', ...facts }),
  );
  expect(line).toMatch(
    /^\d\d:\d\d:00 warn {2}telegram_trouble: task=poll ms=4 error=first second \[2J cause=null stack=x+\.\.\.\n$/,
  );
  expect(line.length).toBeLessThan(260);
});
