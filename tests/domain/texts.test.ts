import { describe, expect, it } from 'vitest';
import { isActor } from '../../src/domain/access.ts';
import { durationMs } from '../../src/domain/schedule/time/duration.ts';
import { checkLabels, checkTexts, isBlank, titleFrom } from '../../src/domain/task.ts';
import { parseThreadKey, threadKeyOf } from '../../src/domain/thread.ts';

describe('thread keys', () => {
  it.each([
    ['telegram:chat:-1001234', { provider: 'telegram', address: '-1001234', topic: null }],
    ['telegram:chat:42:topic:7', { provider: 'telegram', address: '42', topic: 7 }],
    ['cli:default', { provider: 'cli', address: 'default', topic: null }],
  ])('%s is read and written back', (key, thread) => {
    expect(parseThreadKey(key)).toEqual(thread);
    expect(threadKeyOf(parseThreadKey(key))).toBe(key);
  });

  it('fold topic 1 into the base chat', () => {
    expect(threadKeyOf(parseThreadKey('telegram:chat:-5:topic:1'))).toBe('telegram:chat:-5');
  });

  it.each([
    '',
    'telegram',
    'telegram:chat:',
    'telegram:chat:0',
    'telegram:chat:x',
    'telegram:chat:1:topic:0',
    'telegram:chat:1:topic:-2',
    'telegram:chat:1 ',
    'telegram:user:1',
    'telegram:chat:-9999999999999999',
    'telegram:chat:1:topic:9999999999',
    'TELEGRAM:@durov',
    'Telegram:chat:-5',
    ':x',
    'cli:',
    'cli:a b',
    `cli:${'x'.repeat(300)}`,
  ])('%j is refused with an example', (key) => {
    expect(() => parseThreadKey(key)).toThrow(/telegram:chat|characters/);
  });
});

describe('durations of policies', () => {
  it.each([
    ['PT0S', 0],
    ['PT90S', 90_000],
    ['PT1.5S', 1500],
    ['PT10M', 600_000],
    ['P1D', 86_400_000],
    ['P1W2DT3H4M5.006S', ((9 * 24 + 3) * 60 + 4) * 60_000 + 5006],
  ])('%s is %d ms', (text, ms) => {
    expect(durationMs(text)).toBe(ms);
  });

  it.each(['', 'P', 'PT', 'P1M', 'P1Y', '10m', 'PT-1S', 'PT1', 'P1DT', 'pt1s', 'PT1S '])('%j is refused', (text) => {
    expect(() => durationMs(text)).toThrow(/is not a duration/);
  });
});

describe('titles', () => {
  it('are the first sentence or line, at most 60 characters', () => {
    expect(titleFrom('Water the plants. Then rest.')).toBe('Water the plants.');
    expect(titleFrom('  Standup\nBring coffee')).toBe('Standup');
    expect([...titleFrom('😀'.repeat(80))]).toHaveLength(60);
    expect(titleFrom(flag.repeat(60))).toBe(flag.repeat(60));
    expect(titleFrom(flag.repeat(61))).toBe(`${flag.repeat(59)}…`);
    // Signs that stand on each other have no end, and a title that was taken from a text must fit.
    expect(() => checkTexts(titleFrom(piled.repeat(60)), 'a text')).not.toThrow();
  });
});

const flag = '🇪🇸';
const family = '👨‍👩‍👧‍👦';
const piled = `e${'\u0301'.repeat(30)}`;

describe('names', () => {
  const titled = (title: string) => checkTexts(title, 'a text');
  const tagged = (tag: string) => checkLabels(null, [tag]);
  const about = (subject: string) => checkLabels(subject, []);
  const fields = [
    ['a title', titled, 128],
    ['a tag', tagged, 40],
    ['a subject', about, 128],
  ] as const;

  it.each(fields)('%s is counted as people count, and bounded for a machine', (_what, check, max) => {
    for (const sign of ['x', '😀', '👍🏽', flag, 'é']) {
      expect(() => check(sign.repeat(max))).not.toThrow();
      expect(() => check(sign.repeat(max + 1))).toThrow(`at most ${max} characters`);
    }
    expect(() => check(family.repeat(Math.floor((max * 4) / family.length)))).not.toThrow();
    for (const sign of [family, piled]) expect(() => check(sign.repeat(max))).toThrow('4 UTF-16 units each');
  });

  it.each(fields)('%s has something to be seen', (_what, check) => {
    for (const blank of ['\u200b', '\u2060\u00ad ', '\u034f', '\u3164', '\u{e0020}'])
      expect(() => check(blank)).toThrow(/needs a title|can be seen/);
    expect(() => check('\u200bx')).not.toThrow();
  });
});

describe('texts of which nothing can be seen', () => {
  it.each(['', ' \n\t', '\u200b', '\u2060\u00ad', '\u3164', '\u2800', '\ufe0f', '\u202e'])(
    '%j is blank, and is no message',
    (text) => {
      expect(isBlank(text)).toBe(true);
      expect(() => checkTexts('a title', text)).toThrow(/needs instructions/);
    },
  );

  it.each(['.', '\u200bx', '👨‍👩‍👧', '#️⃣', '{{ now }}', 'é'])('%j is not', (text) => {
    expect(isBlank(text)).toBe(false);
  });
});

describe('actors', () => {
  it('are typed, and nothing else is one', () => {
    expect(['telegram:user:1001', 'api:token:ci', 'system', 'system:api'].every(isActor)).toBe(true);
    expect(['telegram:user:0', 'telegram:user:x', 'api:token:', 'root', 'system:other'].some(isActor)).toBe(false);
  });
});
