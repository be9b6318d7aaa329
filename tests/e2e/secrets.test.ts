import { afterEach, describe, expect, it } from 'vitest';
import { bearer } from '../support/server.ts';
import { aBot, type Bot, lab, minute, second, stopBots } from './bot.ts';
import { leaksIn, leftOf } from './leaks.ts';

afterEach(stopBots);

/** Values that are easy to find. Whatever holds one of them, in whatever form, has leaked. */
const canaries = {
  environment: 'CANARY/of+the=environment 1',
  api: 'CANARY-of-the-api"2',
  operator: 'CANARY-of-the-operator\\3',
  chat: 'CANARY-of-the-chat&4',
  group: 'CANARY-of-the-group%5',
  changed: 'CANARY-that-was-changed~6',
} as const;

const leaks = (places: Readonly<Record<string, string>>) => leaksIn(canaries, places);

async function setInPrivate(bot: Bot, name: string, value: string): Promise<string> {
  await bot.say('ada', 1001, `/secrets set ${name}`);
  const [told] = await bot.say('ada', 1001, value);
  return told?.text ?? '';
}

const ben = 1002;
const inChat = '?thread_key=telegram:chat:1001';

describe('the value of a secret', () => {
  it('is found nowhere, however it was set', async () => {
    const bot = await aBot({
      SECRET_ENV_KEY: canaries.environment,
      SECRET_ENV_KEY_HOSTS: 'api.example.com',
      LOG_LEVEL: 'trace',
    });
    const answers: Record<string, string> = {};
    const ask = async (method: string, path: string, body?: unknown) => {
      const answer = await bot.api(method, path, body);
      answers[`${method} ${path} ${Object.keys(answers).length}`] = JSON.stringify(answer);
      return answer;
    };
    expect((await ask('PUT', `/v1/secrets/API_KEY${inChat}`, { value: canaries.api })).status).toBe(200);
    expect((await ask('PUT', '/v1/secrets/OPERATOR_KEY', { value: canaries.operator })).status).toBe(200);
    expect((await ask('PUT', '/v1/secrets/OPERATOR_KEY', { value: canaries.operator, nonsense: 1 })).status).toBe(400);
    expect((await ask('PUT', '/v1/secrets/ENV_KEY', { value: canaries.operator })).status).toBe(400);
    expect(await setInPrivate(bot, 'CHAT_KEY', canaries.chat)).toBe('CHAT_KEY is set.');
    // From a group, by the link that leads to the private chat.
    const [led] = await bot.say('ada', lab, '/secrets set GROUP_KEY');
    expect(led?.text).toContain('in private');
    await bot.say('ada', 1001, '/start secret');
    const [set] = await bot.say('ada', 1001, canaries.group);
    expect(set?.text).toBe('GROUP_KEY is set for The Lab.');
    // Two that come at once: the value does not wait for the question.
    bot.world.say({ as: 'ada', chat: 1001, text: '/secrets set HASTY_KEY' });
    bot.world.say({ as: 'ada', chat: 1001, text: canaries.changed });
    await bot.pass(second);

    await bot.pass(minute);
    for (const path of [
      '/v1/secrets',
      `/v1/secrets${inChat}`,
      '/v1/audit',
      '/v1/events?limit=100',
      '/v1/status',

      '/openapi.json',
    ])
      await ask('GET', path);
    const metrics = await fetch(`${bot.server.url}/metrics`, { headers: bearer });
    answers['metrics'] = await metrics.text();
    expect(JSON.stringify(answers)).toContain('HASTY_KEY');
    expect(leaks(answers)).toEqual([]);
    expect(leaks({ log: JSON.stringify(bot.log.lines), transcript: bot.world.transcript() })).toEqual([]);
    expect(leaks(leftOf(bot))).toEqual([]);
  });

  it('goes with the message that held it, and what the message becomes later is a value as well', async () => {
    const bot = await aBot();
    await setInPrivate(bot, 'KEY', canaries.chat);
    expect(bot.world.messages(1001, { limit: 50 }).filter(({ text }) => text.includes('CANARY'))).toEqual([]);
    expect(bot.world.transcript()).toContain('Cronogram deletes a message');
  });

  it('is refused where it cannot be one, and the question stays open', async () => {
    const bot = await aBot();
    expect(await setInPrivate(bot, 'KEY', 'abc')).toMatch(
      /it has 3 bytes; it needs 4 to 8192[^]*Send the value of KEY again/,
    );
    const [told] = await bot.say('ada', 1001, 'abcd');
    expect(told?.text).toBe('KEY is set.');
    // The next words are words.
    const [next] = await bot.say('ada', 1001, '/secrets');
    expect(next?.text).toContain('KEY\nset by Ada');
  });

  it('is not taken after the question has ended, and a word that looks like one is not kept', async () => {
    const bot = await aBot();
    await bot.say('ada', 1001, '/secrets set KEY');
    await bot.pass(11 * minute);
    const [late] = await bot.say('ada', 1001, canaries.changed);
    expect(late?.text).toContain('That question is over');
    await bot.say('ada', 1001, '/secrets set KEY');
    const [cancelled] = await bot.say('ada', 1001, '/cancel');
    expect(cancelled?.text).toBe('KEY stays as it was.');
    const { body } = await bot.api('GET', `/v1/secrets${inChat}`);
    expect(body).toEqual({ secrets: [] });
    expect(leaks(leftOf(bot))).toEqual([]);
  });

  it('that is too long for a message sets nothing, and neither does the rest of it', async () => {
    const bot = await aBot();
    await bot.say('ada', 1001, '/secrets set KEY');
    const [cut] = await bot.say('ada', 1001, 'x'.repeat(4096));
    expect(cut?.text).toContain('too long for one message');
    const [rest] = await bot.say('ada', 1001, canaries.chat);
    expect(rest?.text).toContain('too long for one message');
    expect(leaks(leftOf(bot))).toEqual([]);
  });

  it('is asked for by admins alone', async () => {
    const bot = await aBot({ TELEGRAM_CHATS: String(lab) });
    const [refused] = await bot.say('ben', lab, '/secrets set KEY');
    expect(refused?.text).toMatch(/admin/i);
    expect((await bot.api('GET', `/v1/secrets?thread_key=telegram:chat:${lab}`)).body).toEqual({ secrets: [] });
  });

  it('is not taken from somebody who was an admin when it was asked for, and is none when it comes', async () => {
    const bot = await aBot({ TELEGRAM_CHATS: `${lab},${ben}` });
    bot.world.setMember(lab, 'ben', 'administrator');
    await bot.say('ben', lab, '/secrets set KEY');
    await bot.say('ben', ben, '/start secret');
    bot.world.setMember(lab, 'ben', 'member');
    await bot.pass(second);
    const [barred] = await bot.say('ben', ben, canaries.group);
    expect(barred?.text).toBe('Only admins of The Lab set its secrets, and you are none now. Nothing was set.');
    expect((await bot.api('GET', `/v1/secrets?thread_key=telegram:chat:${lab}`)).body).toEqual({ secrets: [] });
    expect(leaks(leftOf(bot))).toEqual([]);
  });
});

describe('a key that is not there', () => {
  it('is told at the start, and nothing is answered in the place of a value', async () => {
    const bot = await aBot({ SECRETS_KEY: 'ab'.repeat(32) });
    await bot.api('PUT', `/v1/secrets/KEY${inChat}`, { value: canaries.api });
    const other = await bot.restart({ env: { SECRETS_KEY: 'cd'.repeat(32) } });
    expect(other.log.lines.filter(({ event }) => event === 'secrets_without_key')).toMatchObject([
      { facts: { count: 1 } },
    ]);
    // Both keys are known: what was sealed is sealed anew.
    const both = await other.restart({ env: { SECRETS_KEY: 'cd'.repeat(32), SECRETS_KEY_PREVIOUS: 'ab'.repeat(32) } });
    const rotated = await both.api('POST', '/v1/rotate-secrets', {});
    expect(rotated.body).toEqual({ sealed: 1, left: 0, unreadable: 0, next: null });
    const last = await both.restart({ env: { SECRETS_KEY: 'cd'.repeat(32), SECRETS_KEY_PREVIOUS: '' } });
    expect(last.log.lines.some(({ event }) => event === 'secrets_without_key')).toBe(false);
  });
});
