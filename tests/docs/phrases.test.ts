import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Asked, readAnywhere } from '../../src/domain/when/asked.ts';
import { commands } from '../../src/telegram/chat/commands.ts';
import { lab, stopBots } from '../e2e/bot.ts';
import { aTalkingBot, madeWithTopic } from '../e2e/dialogue.ts';
import { aTalk, labels, refused, root, type Talk } from '../telegram/chat/talk.ts';

/** Words that README.md and the manual show as typed in a chat, or as a time, are understood as they stand. */

const folder = new URL('../../', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const pages = ['README.md', ...readdirSync(new URL('docs', folder)).map((name) => `docs/${name}`)]
  .filter((name) => name.endsWith('.md') && !['docs/measured.md', 'docs/scale.md'].includes(name))
  .map((name) => read(name).replaceAll(/```\n[\s\S]*?```/g, ''));
const matched = (texts: readonly string[], pattern: RegExp) => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, one = '']) => one.replaceAll(/\s+/g, ' ')))),
];

/* ---- times ---- */

const setting = { timezone: 'Europe/Madrid', now: Date.parse('2026-11-18T10:00:00Z') };

function kindOf(words: string): Asked['schedule']['kind'] | 'refused' {
  try {
    return readAnywhere(words, setting).schedule.kind;
  } catch {
    return 'refused';
  }
}

const schedules = read('docs/schedules.md');
const rows = schedules
  .split('| You write |')[1]
  ?.split('\n\n')[0]
  ?.split('\n')
  .slice(2)
  .flatMap((line) => {
    const [, written = '', told = ''] = line.split('|');
    return matched([written], /`([^`]+)`/g).map((words) => [words, told.trim()] as const);
  });

/** The dots stand for more words. */
const completed = (words: string) =>
  words
    .replace(/^FREQ=…$/, 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0')
    .replace(/^… and/, 'every day at 8 and')
    .replace(/^…/, 'every day')
    .replace(/ ?…$/, ' take the pill')
    .replace(/:$/, ': take the pill');

describe('a time', () => {
  it.each(rows ?? [])('%s in the list of the manual is %s', (words, told) => {
    const kind = kindOf(completed(words));
    expect(kind).not.toBe('refused');
    const [, named] = /^(once|cron|rrule|interval)\b/.exec(told) ?? [];
    if (named !== undefined) expect(kind).toBe(named);
  });

  it('that the manual gives as an example of a refusal is refused', () => {
    const [, whole = ''] = /A phrase with two readings,([\s\S]*?)\n\n/.exec(schedules) ?? [];
    const shown = matched([whole], /`([^`]+)`/g);
    expect(shown.length).toBeGreaterThan(2);
    expect(shown.filter((words) => kindOf(words) !== 'refused')).toEqual([]);
  });

  it('that goes to the API or the command line is read', () => {
    const shown = matched(
      [...pages, ...['README.md', 'docs/api.md', 'docs/cli.md'].map(read)],
      /(?:"when": |--when |task create )"([^"]+)"/g,
    );
    expect(shown.length).toBeGreaterThan(2);
    expect(shown.filter((words) => kindOf(words) === 'refused')).toEqual([]);
  });
});

/* ---- words in a chat ---- */

/** What stands for something that a person chooses. */
const chosen: Readonly<Record<string, readonly string[]>> = {
  '<when> <what>': ['every day at 12 Lunch'],
  '[active, paused, completed, failing, mine or a word]': [
    '',
    'active',
    'paused',
    'completed',
    'failing',
    'mine',
    'plants',
  ],
  '[n]': ['#3'],
  '[n or all]': ['#3', 'all'],
  '[until …]': ['until monday', ''],
  '[count or day]': ['2', 'friday', ''],
  '<how long>': ['2h'],
  '<new when>': ['every day at 10'],
  '<field> <value>': ['title Plants'],
  '[day or time]': ['yesterday', '2026-11-18 09:00', ''],
  '[zone]': ['Madrid', ''],
  '[anything]': ['snooze', ''],
  '[name]': ['Ben', ''],
  '[name or id]': ['123456789', ''],
  '<code>': ['x'],
  '…': ['tomorrow at 9 Lunch'],
};

function filled(words: string): readonly string[] {
  const open = /<[^>]*>(?: <[^>]*>)?|\[[^\]]*\]|…/.exec(words)?.[0];
  if (open === undefined) return [words.trim()];
  const choices = chosen[open];
  if (choices === undefined) throw new Error(`nothing is known to stand for ${open}`);
  return choices.flatMap((choice) => filled(words.replace(open, choice)));
}

const isCommand = (words: string) => commands.some(({ name }) => name === /^\/(\w+)/.exec(words)?.[1]);
const typed = matched(pages, /`(\/[a-z]+(?: [^`]*)?)`/g).filter(isCommand);

/** They are said as a reply to a message of the bot. */
const replies = [
  '/snooze 2h',
  'done',
  'not yet',
  'in 10 minutes',
  'tomorrow 9',
  'skip',
  'pause',
  'resume',
  'edit 18:00',
  'why?',
  'stop',
  'delete',
];
/** They mean a command, and make no task. */
const orders = ['list', 'undo', 'what do I have today', 'pause swim', 'move swim to 8', 'rename swim to dive'];
/** They are said as a reply to a message of somebody else. */
const forwards = ['/new friday at 9', 'schedule this friday at 9'];
/** Settings that must hold before it makes a difference. */
const before: readonly (readonly [RegExp, string])[] = [[/^\/(?:undo|resume)/, '/pause #3']];
/** They are about the topic in which they are said, or change nothing where nothing runs. */
const elsewhere = /^\/(?:topic delete|cancel|why|history|start x)$/;

async function answerTo(words: string): Promise<string> {
  const talk: Talk = await aTalk();
  for (const title of ['Water the plants', 'Bins out', 'Lunch', 'Weekly report', 'Retro'])
    await talk.make(`every day at 12 ${title}`);
  for (const [pattern, first] of before) if (pattern.test(words)) await talk.ask(first, { person: root });
  return talk.tells(words, { person: root });
}

describe('a word in a chat', () => {
  const spoken = typed.filter((words) => ![...replies, ...forwards].includes(words)).flatMap(filled);

  it.each(spoken.filter((words) => !elsewhere.test(words)))('%s is understood', async (words) => {
    expect(await answerTo(words)).not.toMatch(refused);
  });

  const quoted = matched([read('docs/chat.md').split('## A whole dialogue')[0] ?? ''], /"([^"]+)"/g);
  it.each(quoted.filter((words) => ![...replies, ...forwards, ...orders].includes(words)))(
    '"%s" needs no command in a private chat',
    async (words) => {
      const talk = await aTalk({ kind: 'private' });
      const preview = await talk.ask(words);
      expect(labels(preview).flat()).toContain('Create');
    },
  );

  it.each(forwards)('"%s" schedules the message that it answers', async (words) => {
    const talk = await aTalk();
    const preview = await talk.ask(words, { about: { text: 'Bring the keys' }, isAddressed: true });
    expect([labels(preview).flat().includes('Create'), preview.text.includes('Bring the keys')]).toEqual([true, true]);
  });

  it('that answers a result means its run', async () => {
    expect(replies.filter((words) => !(words.startsWith('/') ? typed : quoted).includes(words))).toEqual([]);
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    const thread = await madeWithTopic(bot, ['ada', lab], 'every day at 9 Take the pill');
    const result = bot.world.messages(lab, { thread }).find(({ text }) => text === 'Take the pill');
    if (result === undefined) throw new Error('there is no result');
    for (const words of replies) {
      const answers = await bot.say('ada', lab, words, { thread, replyTo: result.messageId });
      for (const { text } of answers) expect(text, words).not.toMatch(refused);
    }
    await stopBots();
  });
});
