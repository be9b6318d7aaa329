import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { greetingText, type Greeted } from '../../src/compose/greeting.ts';

const served: Greeted = {
  version: '1.2.3',
  url: 'http://127.0.0.1:8787',
  dataFile: '/srv/bot/data/cronogram.db',
  isSandboxed: true,
  bot: 'cronogram_bot',
  claim: 'IXVVLdyMXH8gYrjlWhfP-A',
};
const linesOf = (greeted: Partial<Greeted>) =>
  greetingText({ ...served, ...greeted }, '/srv/bot')
    .split('\n')
    .filter((line) => line.startsWith('  '));

describe('the greeting on a terminal', () => {
  it('is four lines that fit: where to go, what to say, where the data is, where to read on', () => {
    const lines = linesOf({});
    expect(lines.map((line) => line.trim().split(/\s+/, 2))).toEqual([
      ['Open', 'http://127.0.0.1:8787/sandbox'],
      ['Say', '/start'],
      ['Data', 'data/cronogram.db'],
      ['Docs', 'http://127.0.0.1:8787/docs'],
    ]);
    expect(lines[1]).toContain('/start IXVVLdyMXH8gYrjlWhfP-A, then: ');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  it.each([
    [{ isSandboxed: false }, 'https://t.me/cronogram_bot?start=IXVVLdyMXH8gYrjlWhfP-A'],
    [{ isSandboxed: false, claim: null }, 'https://t.me/cronogram_bot'],
    [{ isSandboxed: false, bot: null }, 'your bot in Telegram, which has not answered yet'],
    [{ url: 'http://10.0.0.5:8787' }, 'none, HTTP_HOST is not this computer alone; set it to 127.0.0.1'],
  ])('opens the chat that there is: %o', (greeted, place) => {
    expect(linesOf(greeted)[0]?.replace(/^ +Open +/, '')).toBe(place);
  });

  it('is the one that the README shows', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    expect(readme).toContain(greetingText({ ...served, version: '0.1.0' }, '/srv/bot').trim());
  });

  it('tells no code where somebody owns the bot, and no address of a Postgres server', () => {
    const text = linesOf({ claim: null, dataFile: null }).join('\n');
    expect(text).not.toContain('/start');
    expect(text).toMatch(/Data +the Postgres server/);
  });
});
