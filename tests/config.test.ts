import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSecrets } from '../src/app/operations/secrets.ts';
import {
  CONFIG_KEYS,
  faultLines,
  readConfig,
  readLeniently,
  secretsIn,
  strayVariables,
  unbuilt,
} from '../src/config/config.ts';
import { retentionDaysMin } from '../src/domain/policy.ts';
import { createIds, openNotepad, sha256, tokenFrom } from '../src/system/ids.ts';
import { memoryLog } from './support/fakes.ts';
import { aFolder } from './support/place.ts';
import { onPostgres } from './support/postgres.ts';

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

  it('bounds the requests a second, or does not with 0', () => {
    expect(readConfig({})).toMatchObject({ config: { API_RATE: 1000 } });
    expect(readConfig({ API_RATE: '0' })).toMatchObject({ config: { API_RATE: 0 } });
    for (const API_RATE of ['-1', '1.5', 'fast', '1000001'])
      expect(readConfig({ API_RATE }), API_RATE).toMatchObject({ faults: [{ variable: 'API_RATE' }] });
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

  it('has no sandbox of a real bot where other computers come in', () => {
    const real = { TELEGRAM_BOT_TOKEN: '123456:token-of-nobody-at-all', SANDBOX: '1' };
    expect(readConfig({ ...real, HTTP_HOST: '0.0.0.0' })).toMatchObject({ faults: [{ variable: 'HTTP_HOST' }] });
    expect(readConfig(real)).toHaveProperty('config');
    expect(readConfig({ SANDBOX: '1', HTTP_HOST: '0.0.0.0' })).toHaveProperty('config');
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

  it('takes an address to be told that all is well, and no other kind of address', () => {
    expect(readConfig({ HEARTBEAT_URL: 'https://hc-ping.com/x' })).toMatchObject({
      config: { HEARTBEAT_URL: 'https://hc-ping.com/x' },
    });
    expect(readConfig({})).not.toHaveProperty('config.HEARTBEAT_URL');
    for (const url of ['hc-ping.com/x', 'ftp://x', 'https://'])
      expect(readConfig({ HEARTBEAT_URL: url })).toMatchObject({ faults: [{ variable: 'HEARTBEAT_URL' }] });
  });

  it('tells an address of a database that cannot be read from one that can', () => {
    expect(readConfig({ ...onPostgres, DATABASE_URL: 'postgres://ada:p%23ss@db/cronogram' })).toHaveProperty('config');
    for (const url of ['postgres://ada:p#ss/w@db/cronogram', 'postgres://ada:pass@db:port/x', 'mysql://x', 'file:'])
      expect(readConfig({ DATABASE_URL: url })).toMatchObject({ faults: [{ variable: 'DATABASE_URL' }] });
  });

  it('wants a key and a token on Postgres, where no file beside the database can keep them', () => {
    const url = 'postgres://ada:pass@db/cronogram';
    const read = readConfig({ DATABASE_URL: url });
    expect(read).toMatchObject({ faults: [{ variable: 'SECRETS_KEY' }, { variable: 'API_TOKEN' }] });
    expect(faultLines('faults' in read ? read.faults : []).split('\n')).toHaveLength(3);
    expect(readConfig({ DATABASE_URL: url, ...onPostgres })).toHaveProperty(
      'config.SECRETS_KEY',
      Buffer.alloc(32, 0x5e),
    );
    // Verbs that go on know the database all the same.
    expect(readLeniently({ DATABASE_URL: url })).toMatchObject({
      config: { DATABASE_URL: url },
      faults: [{ variable: 'SECRETS_KEY' }, { variable: 'API_TOKEN' }],
    });
  });

  it('knows what of it must not be written anywhere', () => {
    const read = readConfig({
      SECRETS_KEY: onPostgres.SECRETS_KEY,
      API_TOKEN: 'the-token-of-the-api',
      DATABASE_URL: 'postgres://ada:p%23ss-word@db/cronogram',
      HEARTBEAT_URL: 'https://watch.example.org/ping/the-id?key=the-key',
    });
    if ('faults' in read) throw new Error(JSON.stringify(read.faults));
    const { hide } = createSecrets(secretsIn(read.config));
    for (const text of [
      'token the-token-of-the-api',
      'password p#ss-word',
      'password p%23ss-word',
      'GET /ping/the-id?key=the-key',
      'https://watch.example.org/ping/the-id?key=the-key',
      Buffer.from('the-token-of-the-api').toString('base64'),
    ])
      expect(hide(text)).not.toMatch(/the-token|p.{1,3}ss-word|the-id|dGhlLXRva2Vu/);
    // What is no secret stays readable: the database that cannot be reached, the file that is full.
    expect(hide('connect ECONNREFUSED db:5432, cronogram')).toBe('connect ECONNREFUSED db:5432, cronogram');
    const plain = readConfig({});
    expect('config' in plain ? secretsIn(plain.config) : null).toEqual([]);
  });

  it.each([
    ['TELEGRAM_BOT_TOKN', 'TELEGRAM_BOT_TOKEN'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['API_TOKEN_FLE', 'API_TOKEN_FILE'],
    ['RETENTION_DAY', 'RETENTION_DAYS'],
    ['TELEGRAM_CHANNEL', null],
  ])('wonders about %s', (variable, nearest) => {
    expect(strayVariables({ [variable]: 'x' })).toEqual([{ variable, nearest, isUnbuilt: false }]);
  });

  it('tells what is set and has no effect yet, and lists nothing that is read', () => {
    expect(unbuilt.filter((variable) => CONFIG_KEYS.includes(variable))).toEqual([]);
    for (const variable of [...unbuilt, 'LLM_API_KEY_FILE'])
      expect(strayVariables({ [variable]: 'x' })).toEqual([{ variable, nearest: null, isUnbuilt: true }]);
    expect(strayVariables({ ROLE: '' })).toEqual([]);
  });

  it('refuses what several processes need where one is alone, with an example that is taken there', () => {
    const alone = { ROLE: 'worker', ENGINE: 'embedded' };
    for (const [variable, env] of [
      ['ROLE', { ROLE: 'worker' }],
      ['ROLE', { ...onPostgres, DATABASE_URL: 'postgres://localhost/db', ...alone }],
      ['ENGINE', { ENGINE: 'graphile' }],
      ['ENGINE', { ENGINE: 'memory' }],
    ] as const) {
      const read = readConfig(env);
      const [fault] = 'faults' in read ? read.faults : [];
      expect(fault?.variable).toBe(variable);
      expect(readConfig({ ...env, [variable]: fault?.example }), variable).toHaveProperty('config');
    }
  });

  it('takes a short token of the API on this computer alone', () => {
    const API_TOKEN = 'x'.repeat(31);
    for (const HTTP_HOST of ['0.0.0.0', '192.168.0.7', 'example.org', '::'])
      expect(readConfig({ API_TOKEN, HTTP_HOST }), HTTP_HOST).toMatchObject({ faults: [{ variable: 'API_TOKEN' }] });
    for (const HTTP_HOST of ['127.0.0.1', 'localhost', '::1'])
      expect(readConfig({ API_TOKEN: 'short', HTTP_HOST }), HTTP_HOST).toHaveProperty('config');
    expect(readConfig({ API_TOKEN: `${API_TOKEN}x`, HTTP_HOST: '0.0.0.0' })).toHaveProperty('config');
    expect(readConfig({ HTTP_HOST: '0.0.0.0' })).toHaveProperty('config');
  });

  it('wonders about nothing that is somebody else’s, or that it knows', () => {
    const known = [...CONFIG_KEYS, 'API_TOKEN_FILE', 'CRONOGRAM_API_TOKEN_FILE', 'CRONOGRAM_THREAD_KEY'];
    const foreign =
      'PATH HOME TZ LANG NODE_ENV NODE_OPTIONS HTTP_PROXY HTTPS_PROXY NO_PROXY POSTGRES_PASSWORD npm_lifecycle_event PORT HOST';
    const environment = Object.fromEntries([...known, ...foreign.split(' ')].map((name) => [name, 'x']));
    expect(strayVariables(environment)).toEqual([]);
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

describe('the notepad', () => {
  it('keeps its room from the start, is read by the next process, and is for its owner alone', () => {
    const file = join(aFolder(), 'not', 'made', 'alarm.json');
    const pad = openNotepad(file, memoryLog());
    expect(pad.read()).toBeNull();
    const { size, ino } = statSync(file);
    pad.write('{"told":"Größe"}');
    expect(openNotepad(file, memoryLog()).read()).toBe('{"told":"Größe"}');
    pad.write('{}');
    expect(openNotepad(file, memoryLog()).read()).toBe('{}');
    expect(statSync(file)).toMatchObject({ ino });
    expect(statSync(file).size - size).toBeLessThan(4);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('that cannot be kept stays in memory, and says so once', () => {
    const log = memoryLog();
    const taken = join(aFolder(), 'taken');
    writeFileSync(taken, 'a file, and no folder');
    const pad = openNotepad(join(taken, 'alarm.json'), log);
    for (const text of ['a', 'b']) pad.write(text);
    expect(pad.read()).toBe('b');
    expect(log.lines).toMatchObject([{ level: 'warn', event: 'notepad_not_written' }]);
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

describe('secrets of the environment', () => {
  const secretsOf = (environment: Record<string, string>) => {
    const read = readConfig(environment);
    return 'config' in read ? read.config.operatorSecrets : read.faults;
  };
  const variables = (environment: Record<string, string>) => {
    const read = readConfig(environment);
    return 'faults' in read ? read.faults.map(({ variable, problem }) => `${variable} ${problem}`) : [];
  };

  it('have a name, a value or a file that holds it, hosts and chats', () => {
    const file = join(aFolder(), 'key');
    writeFileSync(file, '-----BEGIN KEY-----\nabc\n-----END KEY-----\n');
    expect(
      secretsOf({
        SECRET_WEATHER: 'w3ather',
        SECRET_WEATHER_HOSTS: 'api.example.com, *.corp.example:8443',
        SECRET_WEATHER_CHATS: '-1001, 1002',
        SECRET_CERT_FILE: file,
        SECRET_EMPTY: '',
      }),
    ).toEqual([
      {
        name: 'WEATHER',
        value: 'w3ather',
        hosts: ['api.example.com', '*.corp.example:8443'],
        chats: ['-1001', '1002'],
      },
      { name: 'CERT', value: '-----BEGIN KEY-----\nabc\n-----END KEY-----', hosts: [], chats: [] },
    ]);
  });

  it.each([
    [{ SECRET_A: 'abc' }, 'SECRET_A has 3 bytes; it needs 4 to 8192'],
    [{ SECRET_A: 'x'.repeat(8193) }, 'SECRET_A has 8193 bytes; it needs 4 to 8192'],
    [{ SECRET_a: 'abcd' }, 'SECRET_a is no name of a secret'],
    [{ SECRET_: 'abcd' }, 'SECRET_ is no name of a secret'],
    [{ [`SECRET_${'A'.repeat(65)}`]: 'abcd' }, 'is no name of a secret'],
    [{ SECRET_A_HOSTS: 'a.example.com' }, 'SECRET_A_HOSTS says something about SECRET_A, which is not set'],
    [{ SECRET_A: 'abcd', SECRET_A_HOSTS: 'a.example.com,http://x' }, 'SECRET_A_HOSTS holds http://x, which is no host'],
    [{ SECRET_A: 'abcd', SECRET_A_CHATS: 'all' }, 'SECRET_A_CHATS is a list of chat ids'],
    [{ SECRET_A: 'abcd', SECRET_A_FILE: '/x' }, 'SECRET_A_FILE is set together with SECRET_A'],
    [{ SECRET_A_FILE: '/nowhere/at/all' }, 'SECRET_A_FILE cannot be read (ENOENT)'],
    [{ SECRETS_KEY: 'abcd' }, 'SECRETS_KEY is 32 bytes, as 64 hex digits or in base64'],
  ])('are refused with one line: %j', (environment, words) => {
    const told = variables(environment);
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(words);
    expect(told[0]).not.toMatch(/abc(?:$|\s)|xxxx/);
  });

  it('are no strays, and are hidden wherever they would be written', () => {
    expect(strayVariables({ SECRET_A: 'x', SECRET_A_HOSTS: 'y', SECRETS_KEY_FILE: 'z' })).toEqual([]);
    const read = readConfig({ SECRET_A: 'sesame-value', SECRETS_KEY: 'ab'.repeat(32) });
    if ('faults' in read) throw new Error(JSON.stringify(read.faults));
    const { hide } = createSecrets(secretsIn(read.config));
    expect(hide(`a sesame-value b ${'ab'.repeat(32)} c ${Buffer.alloc(32, 0xab).toString('base64')}`)).toBe(
      'a [secret] b [secret] c [secret]',
    );
  });
});
