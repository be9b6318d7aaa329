import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { stopBots } from '../e2e/bot.ts';
import { aFolder, aStub } from '../support/place.ts';
import { aPlace, split, token } from './place.ts';
import { typed, widest } from './terminal.ts';

afterEach(stopBots);

const asked = (url: string, words = 'task list', environment: Readonly<Record<string, string>> = {}) =>
  typed(split(words), { environment: { CRONOGRAM_API_URL: url, CRONOGRAM_API_TOKEN: token, ...environment } });

describe('what is typed wrongly', () => {
  it.each([
    ['tsk list', /Unknown command 'tsk'.*task/],
    ['task lst', /Unknown command 'lst'.*list/],
    ['task list --stat all', /Unknown option '--stat'\. Did you mean --state\? "cronogram task list --help" shows/],
    ['task list --colour', /Unknown option '--colour'\. "cronogram task list --help" shows/],
    ['task -x', /Unknown option '-x'\. "cronogram task --help" shows/],
    ['--jsn task list', /Did you mean --json\? "cronogram --help" shows/],
    ['backup --fool', /"cronogram backup --help" shows/],
    ['task list --state some', /all, enabled, disabled/],
    ['task list --limit 0', /--limit: "0" is not a whole number from 1 to 200/],
    ['task get', /3, or '#3' in quotes/],
    ['task get 1 2', /Too many arguments/],
    ['task create', /"every weekday at 9 stand up", or one of --when, --once-at, --cron, --rrule or --every/],
    ['task create Hello', /./],
    ['task create --cron "0 9 * * *" Hello', /--timezone/],
    ['task create --cron "0 9 * * *" --every 1h --timezone UTC Hello', /exactly one of/],
    ['task create --cron "0 9 * * *" --timezone UTC', /Say what it says/],
    ['task create --cron "0 9 * * *" --timezone UTC --text a b', /Write the text once/],
    ['task create --cron "0 9 * * *" --timezone UTC --from start Hello', /go with --every/],
    ['task create --cron "0 9 * * *" --timezone UTC --policy grace Hello', /--policy grace=10m/],
    ['task create --cron "0 9 * * *" --timezone UTC --action-json nonsense Hello', /is not JSON/],
    ['task create --cron "0 9 * *" --timezone UTC Hello', /cron/],
    ['task create --cron "0 9 * * *" --timezone Mars/Base Hello', /time zone/],
    ['task create --cron "0 9 * * *" --timezone UTC --policy graze=1m Hello', /graze.*known are/],
    ['task create --when "every purple" --timezone UTC Hello', /./],
    ['task update 1', /at least one field/],
    ['task update 1 --enable --disable', /exclude each other/],
    ['task update 1 --timezone UTC', /goes with a schedule/],
    ['task run 1 --timeout 30s', /go with --wait/],
    ['task run 1 --wait --timeout soon', /30s, 10m, PT1M/],
    ['task run 1 --wait --interval-ms 0', /--interval-ms/],
    ['task answer 1', /--run latest/],
    ['message send', /Say what is to be sent/],
    ['thread purge', /Name the thread/],
    ['completion tcsh', /bash, zsh, fish, powershell/],
    ['events --follow --limit 3', /--limit does not go with --follow/],
    ['--offline task list --api-url http://x', /Leave one of the two out/],
    ['help task rnu', /There is no verb/],
    ['task get ..', /".." is no task id/],
    ['task restore ""', /Name a task/],
    ['grant revoke .', /"." is no grant id/],
    ['thread pause ""', /is no thread key/],
    ['message send x --idempotency-key "a b"', /--idempotency-key has 1 to 200/],
  ])('%s', async (words, told) => {
    const { type } = await aPlace();
    const said = await type(words);
    expect(said).toMatchObject({ code: 2, out: '' });
    expect(said.err.replaceAll('\n', ' ')).toMatch(told);
    expect(widest(said.err)).toBeLessThanOrEqual(80);
    const forPrograms = await type(`${words} --json`);
    expect(forPrograms).toMatchObject({ code: 2, err: '' });
    const { error, ...others } = forPrograms.json;
    expect(others).toEqual({});
    expect(Object.keys(error as object).slice(0, 2)).toEqual(['code', 'message']);
  });

  it('is told with the help of the group where a verb is missing', async () => {
    const said = await typed(['task']);
    expect(said.code).toBe(2);
    expect(said.err).toContain('Usage: cronogram task');
  });
});

describe('a server that is not there, or another', () => {
  it('is told by its address, with what to do', async () => {
    const said = await asked('http://127.0.0.1:1');
    expect(said).toMatchObject({ code: 5, out: '' });
    for (const part of ['http://127.0.0.1:1', 'npm start', '--api-url', '--offline']) expect(said.err).toContain(part);
    const json = await asked('http://127.0.0.1:1', 'task list --json');
    expect(json).toMatchObject({ code: 5, err: '', json: { error: { code: 'server_away' } } });
  });

  it.each([
    ['no address at all', 'nonsense', 2],
    ['another protocol', 'ftp://127.0.0.1/', 2],
    ['an address with a password', 'http://user:hidden@127.0.0.1/', 2],
  ])('is refused before anything is sent: %s', async (_name, url, code) => {
    const said = await asked(url);
    expect(said.code).toBe(code);
    expect(said.err).not.toContain('hidden');
  });

  it('says plainly when what answers is not Cronogram', async () => {
    const url = await aStub((_request, answer) => {
      answer.setHeader('content-type', 'text/html');
      answer.end('<html>Welcome to nginx</html>');
    });
    const said = await asked(url);
    expect(said.code).toBe(1);
    expect(said.err.replaceAll('\n', ' ')).toContain('is not Cronogram (status 200, text/html)');
    expect((await asked(url, 'task list --json')).json).toMatchObject({ error: { code: 'not_understood' } });
  });

  it('says plainly when it is of another version', async () => {
    const url = await aStub((request, answer) => {
      const body = request.url === '/version' ? { name: 'cronogram', version: '9.9.9' } : { entries: [] };
      answer.setHeader('content-type', 'application/json');
      answer.end(JSON.stringify(body));
    });
    const said = await asked(url);
    expect(said.code).toBe(1);
    expect(said.err.replaceAll('\n', ' ')).toContain('It is version 9.9.9, this program is 1.2.3.');
  });

  it('tells the version of a server that does not know the question', async () => {
    const url = await aStub((request, answer) => {
      const isKnown = request.url === '/version';
      const refusal = { error: { code: 'not_found', message: 'There is no route GET /v1/status.' } };
      answer.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
      answer.end(JSON.stringify(isKnown ? { name: 'cronogram', version: '0.0.1' } : refusal));
    });
    const said = await asked(url, 'status');
    expect(said.code).toBe(1);
    expect(said.err).toContain('0.0.1');
  });

  it('does not mind a field that it does not know', async () => {
    const url = await aStub((_request, answer) => {
      answer.setHeader('content-type', 'application/json');
      answer.end(JSON.stringify({ tasks: [], next_cursor: null, brand_new: true }));
    });
    expect((await asked(url)).code).toBe(0);
  });

  it.each([
    [503, 'store_unavailable', 5],
    [429, 'rate_limited', 4],
    [403, 'forbidden', 4],
    [409, 'task_exists', 4],
    [422, 'idempotency_mismatch', 4],
    [404, 'not_found', 3],
    [400, 'invalid_request', 2],
    [500, 'internal', 1],
  ])('ends with the code that a status stands for: %s', async (status, code, exitCode) => {
    const url = await aStub((_request, answer) => {
      answer.writeHead(status, { 'content-type': 'application/json' });
      answer.end(JSON.stringify({ error: { code, message: 'It says so.', details: { a: 1 } } }));
    });
    const said = await asked(url, 'task list --json');
    expect(said.code).toBe(exitCode);
    expect(said.json).toEqual({ error: { code, message: 'It says so.', details: { a: 1 } } });
  });

  it('tells when the connection breaks in the middle of an answer', async () => {
    const url = await aStub((_request, answer) => {
      answer.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      answer.write('{"tasks":');
      answer.destroy();
    });
    expect(await asked(url)).toMatchObject({ code: 5, out: '' });
  });
});

describe('words that can be read in several ways', () => {
  const schedule = { kind: 'once', once_at: '2026-11-24T15:00:00.000Z', cron: null, rrule: null, interval: null };
  const preview = {
    next: ['2026-11-24T15:00:00.000Z'],
    description: 'once',
    min_gap_seconds: null,
    warnings: [],
    warning_details: [],
    schedule: { ...schedule, start_at: null, from: null, timezone: 'UTC' },
    text: 'dentist',
  };
  const error = { code: 'ambiguous_schedule', message: 'Which friday?' };
  const readings = [
    { text: 'Fri 20 Nov', next: '2026-11-20T09:00:00.000Z', when: 'friday 20 november at 9 x' },
    { text: 'Fri 27 Nov', next: '2026-11-27T09:00:00.000Z', when: 'friday 27 november at 9 x' },
  ];
  const answering = (status: number, body: unknown) =>
    aStub((_request, answer) => {
      answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });

  it('are answered with the lines that say which is meant', async () => {
    const url = await answering(400, { error: { ...error, details: { readings } } });
    const said = await asked(url, 'task create "next friday at 9 x"');
    expect(said.code).toBe(2);
    expect(said.err).toBe(
      'Which friday?\n  cronogram task create "friday 20 november at 9 x"\n  cronogram task create "friday 27 november at 9 x"\n',
    );
    const json = await asked(url, 'schedule preview "next friday at 9 x" --json');
    expect(json.json).toMatchObject({ error: { code: error.code, details: { readings } } });
    const offers = [{ text: '09:00', when: "every day at 9 $5 for Ada's" }];
    const missing = await answering(400, { error: { ...error, code: 'incomplete_schedule', details: { offers } } });
    expect((await asked(missing, 'schedule preview coffee')).err).toContain(
      String.raw`  cronogram schedule preview 'every day at 9 $5 for Ada'\''s'`,
    );
  });

  it('are read in one of them, which is told with the other', async () => {
    const other = { text: '03:00', when: 'dentist tuesday at 03:00' };
    const url = await answering(200, { ...preview, assumed: [{ what: 'hour', text: '15:00', other }] });
    const said = await asked(url, 'task create "dentist tuesday at 3" --dry-run');
    expect(said.err).toContain('Assumed 15:00. For 03:00:\n  cronogram task create "dentist tuesday at 03:00"\n');
    const text = await answering(200, {
      ...preview,
      assumed: [{ what: 'hour', text: '18:00', other: { text: '“18” is text', when: 'friday \n18 drinks' } }],
    });
    expect((await asked(text, 'schedule preview "friday 18 drinks"')).err).toContain(' preview "friday"\n');
    expect((await asked(text, 'task create "friday 18 drinks" --dry-run')).err).toContain(
      '  cronogram task create "friday" --text "18 drinks"\n',
    );
  });
});

describe('the token', () => {
  it('is taken from the flag, the variable, the file that is named, or the file of the server of this folder', async () => {
    const { bot } = await aPlace();
    const file = join(aFolder(), 'api-token');
    writeFileSync(file, `${token}\n`);
    const url = bot.server.url;
    const { hostname, port } = new URL(url);
    const own = { HTTP_HOST: hostname, HTTP_PORT: port };
    const seats: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      [`task list --token ${token}`, { CRONOGRAM_API_URL: url }],
      ['task list', { CRONOGRAM_API_URL: url, CRONOGRAM_API_TOKEN: token }],
      ['task list', { CRONOGRAM_API_URL: url, CRONOGRAM_API_TOKEN_FILE: file }],
      ['task list', { ...own, API_TOKEN: token }],
      ['task list', { ...own, DATABASE_URL: `file:${join(file, '..', 'cronogram.db')}` }],
    ];
    for (const [words, environment] of seats)
      expect(await typed(split(words), { environment })).toMatchObject({ code: 0 });
  });

  it('of this folder is shown to nobody but the server of this folder', async () => {
    const heard: (string | undefined)[] = [];
    const url = (
      await aStub((request, answer) => {
        heard.push(request.headers.authorization);
        answer.end('{}');
      })
    ).replace('127.0.0.1', 'localhost.localdomain');
    const said = await typed(['task', 'list', '--api-url', url], { environment: { API_TOKEN: token } });
    expect(said.code).toBe(4);
    expect(said.err).toContain('There is no token');
    expect(heard).toEqual([]);
  });

  it('that is missing, wrong or unreadable is told with what to do, and never shown', async () => {
    const { bot } = await aPlace();
    const environment = { CRONOGRAM_API_URL: bot.server.url };
    const none = await typed(['task', 'list'], {
      environment: { ...environment, DATABASE_URL: `file:${aFolder()}/x.db` },
    });
    expect(none).toMatchObject({ code: 4 });
    expect(none.err).toContain('CRONOGRAM_API_TOKEN');
    const wrong = await typed(['task', 'list'], {
      environment: { ...environment, CRONOGRAM_API_TOKEN: 'wrong-secret-token' },
    });
    expect(wrong).toMatchObject({ code: 4 });
    const odd = await typed(['task', 'list', '--token', 'odd secret\ttoken'], { environment });
    expect(odd).toMatchObject({ code: 2 });
    const file = join(aFolder(), 'missing');
    const unread = await typed(['task', 'list'], { environment: { ...environment, CRONOGRAM_API_TOKEN_FILE: file } });
    expect(unread).toMatchObject({ code: 2 });
    expect(unread.err).toContain('ENOENT');
    for (const said of [wrong, odd]) expect(said.err + said.out).not.toContain('secret');
  });

  it('is not needed for what needs none', async () => {
    const { bot } = await aPlace();
    const environment = { CRONOGRAM_API_URL: bot.server.url, DATABASE_URL: `file:${aFolder()}/x.db` };
    expect((await typed(['version', '--json'], { environment })).json).toEqual({ cli: '1.2.3', server: '0.0.0' });
    expect((await typed(['health'], { environment })).code).toBe(0);
  });

  it('stands in no output, whatever the verb', async () => {
    const { type } = await aPlace();
    for (const words of ['task list', 'status', 'task get 9', 'version', 'health', 'task lst', 'audit', 'events']) {
      for (const flags of ['', ' --json']) {
        const said = await type(words + flags);
        expect(said.out + said.err).not.toContain(token);
      }
    }
  });
});
