import { afterEach, expect, it } from 'vitest';
import { type Bot, lab, stopBots } from './bot.ts';
import { ask, askText, aTalkingBot } from './dialogue.ts';

afterEach(stopBots);

/** A task of the group that begins with this context. */
async function aKnowingBot(context: object): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  const made = await bot.api('POST', `/v1/threads/telegram:chat:${lab}/tasks`, {
    title: 'Ledger',
    instructions: 'Count on',
    schedule: { kind: 'cron', cron: '0 9 * * *', timezone: 'UTC' },
    context,
  });
  expect(made.status).toBe(201);
  return bot;
}

const rows = Array.from({ length: 200 }, (_each, index) => ({ row: index, city: 'Ålesund' }));

it('a context that is too long for a message comes whole, as a file', async () => {
  const bot = await aKnowingBot({ rows });
  const shown = await ask(bot, ['ben', lab], '/context 1');
  expect(shown.document).toMatchObject({ name: 'context-1.json' });
  expect(shown.text).toMatch(/^#1 Ledger · context, [\d,]+ bytes\n\/context #1 set city Oslo/);
  const file = bot.world.file(shown.document?.fileId ?? '');
  expect(JSON.parse(Buffer.from(file?.bytes ?? []).toString())).toEqual({ rows });
  // Nothing takes a reset back, so what was there is given out once more.
  const emptied = await ask(bot, ['ada', lab], '/context 1 reset');
  expect(emptied.text).toMatch(/has an empty context now\. Before, [\d,]+ bytes:/);
  expect(emptied.document).toMatchObject({ name: 'context-1.json' });
  expect(await askText(bot, ['ben', lab], '/context 1')).toContain('has no context');
});

it('a context that fits stands in the message', async () => {
  const bot = await aKnowingBot({ city: 'Oslo' });
  const shown = await ask(bot, ['ben', lab], '/context 1');
  expect([shown.document, shown.text]).toEqual([null, expect.stringContaining('"city": "Oslo"')]);
});
