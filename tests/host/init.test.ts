import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readEnvText } from '../../src/config/config.ts';
import { terminalAsking, type Asking } from '../../src/host/init/asking.ts';
import { changedEnv, writeEnvText } from '../../src/host/init/env-file.ts';
import { systemClock, systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import { aSandbox, sandboxToken } from '../support/sandbox.ts';
import { answers, type Answers } from './answers.ts';
import { expectRefused, hostPlace, openedAt, type PlaceOptions } from './place.ts';

const systemTime = { ...systemClock, ...systemStopwatch, ...systemTimer };
const otherToken = sandboxToken.replace('AAF', 'BBF');

async function aPlace(options: PlaceOptions = {}) {
  const telegram = await aSandbox({ time: systemTime });
  onTestFinished(() => telegram.close());
  const place = hostPlace({
    ...options,
    environment: { TELEGRAM_API_ROOT: telegram.apiRoot, ...options.environment },
    system: { zoneGuess: 'Europe/Madrid', ...options.system },
  });
  const file = join(place.folder, '.env');
  return {
    ...place,
    telegram,
    file,
    text: () => readFileSync(file, 'utf8'),
    read: () => readEnvText(readFileSync(file, 'utf8')),
  };
}

interface InitDone {
  readonly next: readonly string[];
  readonly warnings: readonly string[];
}

describe('init without anybody to ask', () => {
  it('writes what it is given, for its owner alone, and shows no token', async () => {
    const { type, file, read, telegram } = await aPlace({ environment: { TELEGRAM_API_ROOT: '' } });
    const words = [
      '--token',
      sandboxToken,
      '--owner',
      '1001, 1002',
      '--zone',
      'europe/berlin',
      '--api-root',
      telegram.apiRoot,
    ];
    const { out, err, exitCode } = await type('init', ...words);
    expect(exitCode).toBe(0);
    expect(read()).toMatchObject({
      faults: [],
      config: {
        TELEGRAM_BOT_TOKEN: sandboxToken,
        TELEGRAM_OWNERS: ['1001', '1002'],
        DEFAULT_TIMEZONE: 'Europe/Berlin',
        TELEGRAM_API_ROOT: telegram.apiRoot,
        SANDBOX: false,
      },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(out).toContain('@cronogram_bot');
    expect(out + err).not.toContain(sandboxToken.split(':')[1]);
    expect(out.split('\n').filter((line) => line.length > 80 && !line.includes(file))).toEqual([]);
  });

  it('takes the token from a file, or from what comes in', async () => {
    const { folder, json, read } = await aPlace();
    writeFileSync(join(folder, 'token.txt'), `${sandboxToken}\n`);
    await json('init', '--token-file', join(folder, 'token.txt'));
    expect(read().config.TELEGRAM_BOT_TOKEN).toBe(sandboxToken);
    const piped = await aPlace({ input: `${sandboxToken}\n` });
    const done = await piped.json<InitDone>('init', '--token-file', '-');
    expect(done).toMatchObject({
      bot: { username: 'cronogram_bot' },
      owners: [],
      timezone: 'Europe/Madrid',
      topics: 'on',
    });
    expect(done.next.join(' ')).toContain('The first start prints a code');
    expect(JSON.stringify(done)).not.toContain(sandboxToken);
  });

  it('keeps everything else that is in there, also when it is done again', async () => {
    const { type, file, text } = await aPlace();
    const before = '# mine\nHTTP_PORT=9000 # near\nMY_OWN="a b"\n#DEFAULT_TIMEZONE=UTC\nLOG_LEVEL=debug';
    writeFileSync(file, before, { mode: 0o644 });
    const words = ['init', '--token', sandboxToken, '--owner', '1001'];
    await type(...words);
    const once = text();
    expect(once).toBe(
      `# mine\nHTTP_PORT=9000 # near\nMY_OWN="a b"\n#DEFAULT_TIMEZONE=UTC\nDEFAULT_TIMEZONE=Europe/Madrid\nLOG_LEVEL=debug\nTELEGRAM_BOT_TOKEN=${sandboxToken}\nTELEGRAM_OWNERS=1001\n`,
    );
    await type(...words);
    expect([text(), statSync(file).mode & 0o777]).toEqual([once, 0o600]);
    expect(readdirSync(join(file, '..')).filter((name) => name.includes('partial'))).toEqual([]);
  });

  it.each([
    ['a quote in a comment', "DEFAULT_TIMEZONE=UTC # the team's\nSECRET_X='abcd'\n", "SECRET_X='abcd'\n"],
    ['a value of several lines', 'SECRET_X="a\nDEFAULT_TIMEZONE=UTC\nb"\n', 'SECRET_X="a\nDEFAULT_TIMEZONE=UTC\nb"\n'],
    ['lines of Windows', 'export DEFAULT_TIMEZONE="UTC" # x\r\nSECRET_X=abcd\r\n', 'SECRET_X=abcd\r\n'],
  ])('takes nothing away with %s', async (_what, before, stays) => {
    const { type, file, text, read } = await aPlace();
    writeFileSync(file, before);
    await type('init', '--token', sandboxToken, '--owner', '1001', '--zone', 'Asia/Tokyo');
    expect(text()).toContain(stays);
    expect(read()).toMatchObject({ faults: [], config: { DEFAULT_TIMEZONE: 'Asia/Tokyo' } });
  });

  it('does not put another token in the place of one without --force', async () => {
    const { type, file, text, read } = await aPlace();
    const before = `TELEGRAM_BOT_TOKEN=${otherToken}\n`;
    writeFileSync(file, before);
    expectRefused(await type('init', '--token', sandboxToken), 4, '--force');
    expect(text()).toBe(before);
    expect((await type('init', '--token', sandboxToken, '--force')).exitCode).toBe(0);
    expect(read().config.TELEGRAM_BOT_TOKEN).toBe(sandboxToken);
    const named = await aPlace();
    writeFileSync(named.file, 'TELEGRAM_BOT_TOKEN_FILE=/run/secrets/token\n');
    expect((await named.type('init', '--token', sandboxToken)).fault).toMatchObject({ exitCode: 4 });
    await named.type('init', '--token', sandboxToken, '--force');
    expect(named.read()).toMatchObject({ faults: [], config: { TELEGRAM_BOT_TOKEN: sandboxToken } });
  });

  it.each([
    [['--token', 'nonsense'], 2, 'no token'],
    [['--token', otherToken], 4, 'does not know'],
    [['--token', sandboxToken, '--owner', '@ada'], 2, 'ids of people'],
    [['--token', sandboxToken, '--zone', 'Atlantis'], 2, 'Europe/Madrid'],
    [['--token', sandboxToken, '--token-file', 'x'], 2, 'not both'],
    [['--token', sandboxToken, '--sandbox'], 2, 'leave'],
    [['--token-file', '/no/such/file'], 1, 'no such file'],
    [['--token', sandboxToken, '--api-root', 'http://127.0.0.1:1'], 1, 'does not answer'],
    [[], 2, '--token-file'],
  ])('refuses %j, says what to do, and writes nothing', async (words, exitCode, say) => {
    const { type, file } = await aPlace();
    const { fault } = await type('init', ...words);
    expect([fault?.exitCode, fault?.message]).toEqual([exitCode, expect.stringContaining(say) as string]);
    expect(fault?.message).not.toContain('of-the-tests');
    expect(existsSync(file)).toBe(false);
  });

  it('sets the sandbox up, and Telegram in its place later', async () => {
    const { json, read } = await aPlace();
    expect(await json<InitDone>('init', '--sandbox', '--yes')).toMatchObject({ sandbox: true, bot: null });
    expect(read().config.SANDBOX).toBe(true);
    await json('init', '--token', sandboxToken);
    expect(read().config.SANDBOX).toBe(false);
  });

  it('says so when a server runs, and when something else in the file is wrong', async () => {
    const { json, file, database } = await aPlace();
    writeFileSync(file, 'MIN_INTERVAL=often\n');
    const opened = await openedAt(database, 0);
    onTestFinished(() => opened.close());
    const { next, warnings } = await json<InitDone>('init', '--token', sandboxToken);
    expect(next[0]).toContain('start it again');
    expect(warnings).toEqual([expect.stringContaining('MIN_INTERVAL') as string]);
  });
});

describe('init with somebody to ask', () => {
  const pressed = async (heard: readonly string[], pattern: RegExp) => {
    for (;;) {
      const found = heard.map((text) => pattern.exec(text)?.[1]).find((each) => each !== undefined);
      if (found !== undefined) return found;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  it('waits for the topics and for the owner, and takes no message from the bot', async () => {
    const asking: Answers = answers({
      choose: ['token', null, null],
      secret: ['nonsense', otherToken, sandboxToken],
      confirm: [false, true],
      text: ['Mars', 'asia/tokyo'],
    });
    const { type, read, telegram } = await aPlace({ asking });
    const { world } = telegram;
    world.setForum(1001, false);
    world.say({ as: 'ben', chat: 1002, text: 'hello there' });
    const running = type('init');
    await pressed(asking.heard, /(Waiting until they are on)/);
    world.setForum(1001, true);
    const code = await pressed(asking.heard, /\?start=([\w-]+)/);
    world.say({ as: 'mallory', chat: 1003, text: `/start ${code}x` });
    world.say({ as: 'ada', chat: 1001, text: `/start ${code}` });
    const { exitCode, out } = await running;
    expect(exitCode).toBe(0);
    expect(read().config).toMatchObject({
      TELEGRAM_BOT_TOKEN: sandboxToken,
      TELEGRAM_OWNERS: ['1001'],
      DEFAULT_TIMEZONE: 'Asia/Tokyo',
    });
    const left = await fetch(`${telegram.apiRoot}/bot${sandboxToken}/getUpdates`);
    const texts = ((await left.json()) as { result: { message: { text: string } }[] }).result.map(
      ({ message }) => message.text,
    );
    expect(texts).toEqual(['hello there', `/start ${code}x`, `/start ${code}`]);
    expect(asking.heard.join('\n') + out).not.toContain(sandboxToken);
    expect(asking.heard).toContain(
      'Telegram does not know this token. Copy it again: @BotFather, /mybots, your bot, API Token.',
    );
    expect(code).toMatch(/^[\w-]{22}$/);
  });

  it('goes on with a group and without an owner when that is wished', async () => {
    const asking = answers({ choose: ['token', 'group', 'later'], secret: [sandboxToken], confirm: [true] });
    const { json, type, read, telegram } = await aPlace({ asking });
    telegram.world.setForum(1001, false);
    expect((await type('init')).exitCode).toBe(0);
    expect(read().config.TELEGRAM_OWNERS).toEqual([]);
    expect(asking.heard.join('\n')).toContain('https://t.me/cronogram_bot?startgroup=setup&admin=manage_topics');
    const said = await type('init', '--yes', '--token', sandboxToken);
    expect(said.out).toContain('owner      nobody yet');
    expect((await json<InitDone>('init', '--yes', '--token', sandboxToken)).next.join('\n')).toContain(
      'startgroup=setup',
    );
  });

  it('asks for an id where another program gets the messages', async () => {
    const asking = answers({ choose: ['token'], secret: [sandboxToken], text: ['@ada', '1001'], confirm: [true] });
    const { type, read, telegram } = await aPlace({ asking });
    await fetch(`${telegram.apiRoot}/bot${sandboxToken}/setWebhook?url=https://a.example/x`);
    expect((await type('init')).exitCode).toBe(0);
    expect(read().config.TELEGRAM_OWNERS).toEqual(['1001']);
    expect(asking.heard.join('\n')).toContain('go to a webhook');
  });

  it('keeps the token and the owner that are there', async () => {
    const asking = answers({ confirm: [true, true] });
    const environment = { TELEGRAM_BOT_TOKEN: sandboxToken, TELEGRAM_OWNERS: '1001' };
    const { type, file, text } = await aPlace({ asking, environment });
    writeFileSync(file, `TELEGRAM_BOT_TOKEN=${sandboxToken}\nTELEGRAM_OWNERS=1001\n`);
    expect((await type('init')).exitCode).toBe(0);
    expect(text()).toBe(`TELEGRAM_BOT_TOKEN=${sandboxToken}\nTELEGRAM_OWNERS=1001\nDEFAULT_TIMEZONE=Europe/Madrid\n`);
  });

  it('begins in the sandbox when that is chosen, and writes nothing for whoever leaves', async () => {
    const { type, read } = await aPlace({ asking: answers({ choose: ['sandbox'], confirm: [true] }) });
    expect((await type('init')).exitCode).toBe(0);
    expect(read().config.SANDBOX).toBe(true);
    const { asking, keys } = atTerminal();
    const left = await aPlace({ asking });
    const running = left.type('init');
    keys.write('\u0003');
    expectRefused(await running, 1, 'nothing was changed');
    expect(existsSync(left.file)).toBe(false);
  });

  it('is led by the keys of a real terminal, and echoes no token', async () => {
    const { asking, keys, seen } = atTerminal();
    const { type, read } = await aPlace({ asking });
    const running = type('init', '--owner', '1001');
    const after = async (words: string, typed: string) => {
      while (!seen().includes(words)) await new Promise((resolve) => setImmediate(resolve));
      keys.write(typed);
    };
    await after('How do you want to begin?', '\r');
    await after('The token from @BotFather', sandboxToken);
    await new Promise((resolve) => setImmediate(resolve));
    keys.write('\r');
    await after('for you now (Europe/Madrid)', '\r');
    expect((await running).exitCode).toBe(0);
    expect(read().config.TELEGRAM_BOT_TOKEN).toBe(sandboxToken);
    expect(seen()).not.toContain('of-the-tests');
  });
});

it('asks in whole lines on a terminal that does not know how wide it is', () => {
  const { asking, seen } = atTerminal({ columns: 0, rows: 0 });
  asking.say('Each task has a topic of its own.');
  void asking.text('Your time zone', () => undefined);
  expect(seen()).toContain('Each task has a topic of its own.');
  expect(seen()).toContain('Your time zone');
});

/** A terminal of which a test holds the other end. */
function atTerminal(size = { columns: 80, rows: 40 }): { asking: Asking; keys: PassThrough; seen: () => string } {
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => keys });
  const screen = Object.assign(new PassThrough(), { isTTY: true, ...size });
  let text = '';
  screen.on('data', (chunk: Buffer) => void (text += String(chunk)));
  return { asking: terminalAsking({ input: keys, output: screen }), keys, seen: () => text };
}

describe('a .env file', () => {
  it.each([
    ['', { A: '1' }, 'A=1\n'],
    ['A=0', { A: '1' }, 'A=1\n'],
    ['export A=0\nB=2\nA=3\n', { A: '1' }, 'A=1\nB=2\n'],
    ['A="x\ny"\nB=2\n', { A: '1' }, 'A=1\nB=2\n'],
    ['AB=0\n', { A: '1' }, 'AB=0\nA=1\n'],
    ['# A=0\nB=2\n', { A: '1' }, '# A=0\nA=1\nB=2\n'],
    ['#A=0', { A: '1' }, '#A=0\nA=1\n'],
    ['A=0\nB=2\n', { A: null }, 'B=2\n'],
    ['B=2\n', { A: null }, 'B=2\n'],
    ['A=0\n', { A: 'x # y' }, "A='x # y'\n"],
    ['A=$&\n', { A: '$&-$1' }, "A='$&-$1'\n"],
  ])('%j with %j is %j', (before, changes, after) => {
    expect(changedEnv(before, changes)).toBe(after);
  });

  it('that cannot be replaced leaves no half of another one', async () => {
    const { file, folder } = await aPlace();
    writeFileSync(file, 'A=1\n');
    const fail = () => {
      throw new Error('the disk is full');
    };
    expect(() => writeEnvText(file, 'A=2\n', fail)).toThrow('the disk is full');
    expect([readFileSync(file, 'utf8'), readdirSync(folder).filter((name) => name.includes('partial'))]).toEqual([
      'A=1\n',
      [],
    ]);
  });

  it('that cannot be replaced is told in words', async () => {
    const { folder, type, file } = await aPlace();
    writeFileSync(file, 'A=1\n');
    chmodSync(folder, 0o500);
    onTestFinished(() => chmodSync(folder, 0o700));
    // Root may write everywhere; for everybody else the folder is closed.
    const { fault, exitCode } = await type('init', '--token', sandboxToken);
    if (process.getuid?.() === 0) expect(exitCode).toBe(0);
    else expect(fault?.message).toContain('run it as the user');
  });
});
