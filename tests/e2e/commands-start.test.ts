import { afterEach, describe, expect, it } from 'vitest';
import { ada, ben, day, lab, mallory, minute, noRights, plain, stopBots, type Bot } from './bot.ts';
import { select } from './deliveries.ts';
import { ask, askText, aTalkingBot, expectSilence, labels, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

/** Every table in which somebody could have left a trace. */
function traces(bot: Bot, id: number): string[] {
  const tables = ['inbox', 'chats', 'users', 'members', 'deliveries', 'drafts', 'audit', 'events', 'kv', 'tasks'];
  return tables.filter((table) => JSON.stringify(select(bot, `select * from ${table}`)).includes(String(id)));
}

describe('/start and /help', () => {
  it('greets in a private chat, says how topics stand, and asks for the zone', async () => {
    const bot = await aTalkingBot();
    const hello = await ask(bot, ['ada', ada], '/start');
    expect(hello.text).toBe(
      [
        'Hello Ada. I send messages on time: tell me when and what. Each task gets a topic: a thread for its messages.',
        'Topics: on. Every task gets a topic of its own here.',
        'Times here are in UTC. Is it 09:00 for you now?',
        'Now try: /new every weekday at 9:00 Stand up',
        'Everything else: /help',
      ].join('\n\n'),
    );
    expect(labels(hello)).toEqual([['Yes', 'No, change'], ['Add me to a group']]);
    expect(await bot.press('ada', hello, 'Yes')).toEqual({ text: 'Good: UTC', alert: false });
    expect(bot.now(hello).text).toContain('Times here are in UTC, where it is 09:00 now.');
    expect(labels(bot.now(hello))).toEqual([['Add me to a group']]);
    expect(await askText(bot, ['ada', ada], '/start')).not.toContain('Is it 09:00');
  });

  it('takes words behind it as nothing, and the name of the bot as its own', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    expect(await askText(bot, ['ada', ada], '/start please claimed')).not.toContain('You are the owner');
    expect(await askText(bot, ['ben', lab], '/START@Cronogram_Bot')).toMatch(/^Hello Ben\./);
    expect(await askText(bot, ['ben', lab], '/help@cronogram_bot me')).toMatch(/^I have no help on “me”\./);
  });

  it('says in a group what is missing, looks again when asked, and lets admins alone confirm the zone', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: `${noRights},${lab}` });
    const hello = await ask(bot, ['ben', noRights], '/start');
    expect(hello.text).toContain('✗ Manage topics: not allowed. Open the group’s administrators');
    expect(hello.text).toContain('✗ Time zone: UTC, and nobody has confirmed it. Is it 09:00 for you now?');
    expect(labels(hello)).toEqual([['Yes', 'No, change'], ['Check again']]);
    expect((await bot.press('ben', hello, 'Yes'))?.alert).toBe(true);
    await bot.press('ada', hello, 'Yes');
    bot.world.setBotStatus(noRights, 'administrator', 'ada');
    bot.world.setBotRights(noRights, { can_manage_topics: true, can_pin_messages: true });
    await bot.press('ben', bot.now(hello), 'Check again');
    expect(bot.now(hello).text).toContain('All set.');
    expect(labels(bot.now(hello))).toEqual([['Check again', 'Send a test']]);
  });

  it('answers in the topic in which it is asked', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    const topic = await madeWithTopic(bot, ['ada', lab], 'every day at 10 Stand up');
    expect((await ask(bot, ['ben', lab], '/start', { thread: topic })).threadId).toBe(topic);
    expect((await ask(bot, ['ben', lab], '/help', { thread: topic })).threadId).toBe(topic);
  });

  it('helps with every command that there is for that person, each with an example that works', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    expect(await askText(bot, ['ada', ada], '/help all')).toContain('/allow 123456789');
    expect(await askText(bot, ['ben', lab], '/help all')).not.toContain('/allow');
    const everyday = await askText(bot, ['ben', lab], '/help');
    const onTimes = await askText(bot, ['ben', lab], '/help times');
    for (const [example] of `${everyday}\n${onTimes}`.matchAll(/^\/new \w+ .+?(?=$| – )/gm)) {
      expect(await askText(bot, ['ada', lab], example)).toContain('New task:');
    }
  });
});

describe('the claim code', () => {
  it('makes the first who brings it the owner, with one message that greets and checks the set-up', async () => {
    const bot = await aTalkingBot({ TELEGRAM_OWNERS: '' });
    const claimed = await askText(bot, ['ada', ada], `/start ${bot.claims[0]}`);
    expect(claimed).toMatch(/^Hello Ada\. .*\n\nYou are the owner of this bot now\. [\s\S]*Topics: on\./);
    expect(claimed).not.toContain(String(bot.claims[0]));
    expect(await askText(bot, ['ben', ben], `/start ${bot.claims[0]}`)).toBe(
      [
        'Hello! I am a private bot, and you are not on my list yet.',
        'Ask the person who runs this bot to send me: /allow 1002',
        'In a group where I am approved you can write to me right away.',
      ].join('\n'),
    );
    expect(traces(bot, ben)).toEqual([]);
    const again = await bot.restart();
    expect(again.claims).toEqual([]);
    expect(await askText(again, ['ada', lab], '/allow')).toContain('This group is approved now.');
  });

  it('tells whoever comes without it that the bot is nobody’s, and where the code is', async () => {
    const bot = await aTalkingBot({ TELEGRAM_OWNERS: '' });
    expect(await askText(bot, ['ada', ada], '/start')).toMatch(
      /Nobody owns this bot yet.*code that the server printed/,
    );
    expect(await askText(bot, ['ada', ada], '/start 12345')).toMatch(/This is not the code/);
    expect(await askText(bot, ['ada', ada], `/start ${bot.claims[0]}`)).toContain('You are the owner');
  });

  it('is locked by five wrong ones, says so, and a restart prints a new one', async () => {
    const bot = await aTalkingBot({ TELEGRAM_OWNERS: '' });
    for (let turn = 1; turn <= 4; turn += 1) {
      expect(await askText(bot, ['mallory', mallory], `/start wrong${turn}`)).toMatch(/This is not the code/);
    }
    expect(await askText(bot, ['mallory', mallory], '/start wrong5')).toMatch(/Start the server again/);
    expect(await askText(bot, ['ada', ada], `/start ${bot.claims[0]}`)).toMatch(/Start the server again/);
    const again = await bot.restart();
    expect(again.claims).toHaveLength(1);
    expect(again.claims[0]).not.toBe(bot.claims[0]);
    expect(await askText(again, ['ada', ada], `/start ${again.claims[0]}`)).toContain('You are the owner');
  });

  it('is not taken in a group', async () => {
    const bot = await aTalkingBot({ TELEGRAM_OWNERS: '' });
    expect(await askText(bot, ['ada', lab], `/start ${bot.claims[0]}`)).toBe(
      'Hello! I only work in groups that my owner has approved.',
    );
    expect(select(bot, `select id from users where role = 'owner'`)).toEqual([]);
  });
});

describe('strangers', () => {
  it('are refused once a day in private, are told their id, and leave no trace', async () => {
    const bot = await aTalkingBot();
    expect(await askText(bot, ['mallory', mallory], 'hello')).toContain('/allow 1003');
    for (const text of ['/start', '/new in 5 minutes x', '/task #1', '/tz Madrid', '/allow 1003', 'in 5 minutes x']) {
      await expectSilence(bot, ['mallory', mallory], text);
    }
    expect(traces(bot, mallory)).toEqual([]);
    await bot.pass(day);
    expect(await bot.say('mallory', mallory, '/tasks')).toHaveLength(1);
    expect(bot.log.lines.filter(({ event }) => event === 'stranger_refused')).toHaveLength(2);
  });

  it('are all told the same in private, members of an approved group too, and of no group by its name', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    expect(await askText(bot, ['ben', lab], '/tasks')).toContain('No tasks here yet');
    const toMember = await askText(bot, ['ben', ben], '/tasks');
    const toStranger = await askText(bot, ['mallory', mallory], '/tasks');
    expect(toMember.replace(String(ben), String(mallory))).toBe(toStranger);
    expect(toMember).not.toContain('Lab');
    expect(select(bot, `select id from chats where address = '${ben}'`)).toEqual([]);
    expect(await askText(bot, ['ben', lab], '/tasks')).toContain('No tasks here yet');
  });

  it('are heard as soon as an owner has let them in', async () => {
    const bot = await aTalkingBot();
    await ask(bot, ['mallory', mallory], '/start');
    expect(await askText(bot, ['ada', ada], '/allow 1003')).toContain('begins there with /start');
    expect(await askText(bot, ['mallory', mallory], '/start')).toMatch(/^Hello Mallory\./);
    expect(await askText(bot, ['mallory', mallory], '/allow 1002')).toBe('Only an owner of this bot may do that.');
    expect(await askText(bot, ['mallory', mallory], '/help')).not.toContain('/allow');
    expect(await askText(bot, ['ada', ada], '/allow 1003')).toBe('That was approved before.');
  });

  it('get one refusal in a group that is not approved, whatever they try, and the group leaves no trace', async () => {
    const bot = await aTalkingBot();
    await expectSilence(bot, ['ben', lab], 'good morning');
    await expectSilence(bot, ['ben', lab], '/weather');
    expect(await askText(bot, ['ben', lab], '/start')).toBe('Hello! I only work in groups that my owner has approved.');
    for (const text of ['/help', '/new in 5 minutes x', '/tasks', '/allow', '/tz Madrid', '/run@cronogram_bot 1']) {
      await expectSilence(bot, ['ben', lab], text);
    }
    expect(traces(bot, ben)).toEqual([]);
    expect(traces(bot, lab)).toEqual([]);
  });

  it('are answered when they press a button that an owner was shown there', async () => {
    const bot = await aTalkingBot();
    const hello = await ask(bot, ['ada', lab], '/start');
    expect(await bot.press('ben', hello, 'Yes')).toEqual({ text: 'This bot is private.', alert: false });
    expect(traces(bot, ben)).toEqual([]);
  });
});

describe('groups', () => {
  it('are approved by an owner with /allow, which owners alone are told of', async () => {
    const bot = await aTalkingBot();
    expect(await askText(bot, ['ada', lab], '/start')).toContain('An owner of this bot sends /allow here.');
    expect(await askText(bot, ['ben', lab], '/start')).not.toContain('/allow');
    const approved = await ask(bot, ['ada', lab], '/allow');
    expect(approved.text).toMatch(
      /^This group is approved now\. Members may use me here\.\n\nSet-up of this chat\n✓ Topics: on\./,
    );
    expect(approved.text).toContain('Now try: /new');
    expect(await askText(bot, ['ada', lab], '/allow')).toBe('That was approved before.');
    expect(await askText(bot, ['ben', lab], '/start')).toMatch(/^Hello Ben\./);
    expect(await askText(bot, ['ben', lab], '/allow')).toBe('Only an owner of this bot may do that.');
    expect(await askText(bot, ['ada', plain], '/start')).toContain('✗ Approved: not yet.');
  });

  it('are approved from afar by their id, and what is no id is refused', async () => {
    const bot = await aTalkingBot();
    expect(await askText(bot, ['ada', ada], '/allow')).toContain('/allow in a group approves the group.');
    for (const nonsense of ['Ben', '@ben', '0', '12 34', '-', '99999999999999999']) {
      expect(await askText(bot, ['ada', ada], `/allow ${nonsense}`)).toMatch(
        /^(?:That is no id|I know nobody called|I cannot look up)/,
      );
    }
    expect(await askText(bot, ['ada', ada], `/allow ${lab}`)).toContain(
      `The members of the chat ${lab} may use me there now.`,
    );
    expect(await askText(bot, ['ben', lab], '/start')).toMatch(/^Hello Ben\./);
  });

  it('that the operator named are open from the start, and others are not', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: `${lab},${ben}` });
    expect(await askText(bot, ['ben', lab], '/tasks')).toContain('No tasks here yet.');
    expect(await askText(bot, ['ben', ben], '/tasks')).toContain('No tasks here yet.');
    expect(await askText(bot, ['ben', plain], '/tasks')).toContain('groups that my owner has approved');
    expect(await askText(bot, ['mallory', mallory], '/tasks')).toContain('private bot');
  });

  it('greet when an owner adds the bot, and are refused when somebody else does', async () => {
    const bot = await aTalkingBot();
    for (const [chat, by] of [
      [lab, 'ada'],
      [noRights, 'ben'],
    ] as const) {
      bot.world.setBotStatus(chat, 'left', 'ada');
      await bot.pass(minute);
      bot.world.setBotStatus(chat, 'administrator', by);
      await bot.pass(minute);
    }
    expect(bot.texts(lab)).toEqual([expect.stringMatching(/^Hello! I send messages on time[\s\S]*Now try: \/new/)]);
    expect(await askText(bot, ['ben', lab], '/tasks')).toContain('No tasks here yet.');
    expect(bot.texts(noRights)).toEqual(['Hello! I only work in groups that my owner has approved.']);
    await expectSilence(bot, ['ben', noRights], '/tasks');
    bot.world.setBotStatus(plain, 'left', 'ben');
    await bot.pass(minute);
    bot.world.setBotStatus(plain, 'member', 'ben');
    await bot.pass(minute);
    expect(bot.texts(plain)).toEqual(['Hello! I only work in groups that my owner has approved.']);
  });
});

it('a task that is made where the bot may not manage topics says on its first card what is missing', async () => {
  const bot = await aTalkingBot();
  await bot.say('ada', noRights, '/allow');
  const preview = (await bot.say('ada', noRights, '/new in 1 hour Water the plants')).at(-1);
  if (preview === undefined) throw new Error('no preview');
  await bot.press('ada', preview, 'Create');
  expect(bot.now(preview).text).toMatch(/^#1 Water the plants[\s\S]*Note: .*I may not manage topics here/);
});
