import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { hour, lab, minute, stopBots } from '../e2e/bot.ts';
import { aFolder } from '../support/place.ts';
import { aPlace, type Place, aPlaceAfter } from './place.ts';

afterEach(stopBots);

const echo = (settings: Readonly<Record<string, unknown>>) =>
  `--action-json '${JSON.stringify({ kind: 'echo', ...settings })}'`;
const daily = 'task create --cron "0 9 * * *" --timezone UTC';

/** The chat of the lab, in which results are delivered. */
async function inTheLab(): Promise<Place & { readonly thread: string }> {
  const place = await aPlace({ TELEGRAM_CHATS: String(lab) });
  return { ...place, thread: `telegram:chat:${lab}` };
}

describe('a run that is waited for', () => {
  it('is told with what it said, where nothing is delivered', async () => {
    const { well } = await aPlaceAfter(`${daily} Hello`);
    const said = await well('task run 1 --wait');
    expect(said.out).toMatch(/^#1 Hello succeeded in .+\.\n/);
    expect(said.out).toContain('Nothing is delivered to cli:default: it is kept in the history.\nHello\n');
  });

  it('is told with the place and the message, where it is delivered', async () => {
    const { bot, well, thread } = await inTheLab();
    await well(`${daily} --thread-key ${thread} Hello`);
    const said = await well(`task run 1 --wait --thread-key ${thread}`);
    const [, topic, message] =
      /telegram:chat:-\d+:topic:(\d+): delivered as message (\d+)/.exec(said.out.replace('\n', ' ')) ?? [];
    const shown = bot.world
      .messages(lab, { thread: Number(topic) })
      .find(({ messageId }) => messageId === Number(message));
    expect(shown?.text).toBe('Hello');
    const link = `https://t.me/c/${String(lab).replace('-100', '')}/${topic}`;
    expect(said.out).toContain(`\n${link}/${message}\n`);
    const again = await well(`task run 1 --thread-key ${thread}`);
    expect(again.err).toContain(`The result comes in ${link}\n`);
    expect((await well(`run get ${/run (\S+)/.exec(again.out)?.[1] ?? ''}`)).out).toContain('ATTEMPT');
  });

  it('is told with the place that it came to in the place of its topic', async () => {
    const { bot, well, thread } = await inTheLab();
    bot.world.setBotRights(lab, { can_manage_topics: false });
    await well(`${daily} --thread-key ${thread} --policy fallback=creator Hello`);
    const said = await well(`task run 1 --wait --thread-key ${thread}`);
    expect(said.out.replaceAll('\n', ' ')).toMatch(new RegExp(`${thread} \\(fallback\\): delivered as message \\d+`));
    expect(bot.world.messages(lab, { thread: null }).map(({ text }) => text)).toContain('Hello');
  });

  it('ends with 1 when it fails, and says why', async () => {
    const { bot, well, type } = await aPlace({ ECHO_ACTION: '1' });
    await well(`${daily} ${echo({ fail_attempts: 9, error: 'final' })} Hello`);
    const said = await type('task run 1 --wait');
    expect(said.code).toBe(1);
    expect(said.out).toMatch(/^#1 Hello failed/);
    const json = await type('task run 1 --wait --json');
    expect(json.code).toBe(1);
    expect(json.json).toMatchObject({ task: { number: 1 }, run: { status: 'failed' } });
    expect((await well('task list')).out).toContain('failing');
    await well('task skip 1');
    await bot.pass(25 * hour);
    expect((await well('task list')).out).toContain('failing');
    expect((await well('task get 1')).out).toMatch(/failed, .+, since then skipped/);
  });

  it('of which the result grows too old is run again, and marks that result until one succeeds', async () => {
    const { bot, well } = await aPlace();
    await well(`${daily} --policy refresh_after=PT2H Hello`);
    await well('task run 1 --wait');
    await well('task pause 1');
    await bot.pass(3 * hour);
    expect((await well('task get 1')).out).toContain('stale since');
    await well('task resume 1');
    expect((await well('task list')).out).toContain('stale');
    await bot.pass(2 * hour);
    await bot.drift(minute);
    expect((await well('task history 1 --json')).out).toContain('stale_refresh');
    expect((await well('task list')).out).toContain('active');
  });

  it('ends with 1 when it has not ended in time, and goes on', async () => {
    const { well, type } = await aPlace({ ECHO_ACTION: '1' });
    await well(`${daily} --timeout 1m ${echo({ delay_ms: 30_000 })} Hello`);
    const said = await type('task run 1 --wait --timeout 2s');
    expect(said.code).toBe(1);
    expect(said.out).toContain('has not ended in that time: it is running');
    const [, runId = ''] = /run get (\S+)/.exec(said.err) ?? [];
    expect((await well(`run wait ${runId} --timeout 60`)).out).toContain('succeeded');
  });

  it('that was called off does not make its task a failing one', async () => {
    const { well, type } = await aPlace({ ECHO_ACTION: '1' });
    await well(`${daily} ${echo({ delay_ms: 30_000 })} Hello`);
    const [, runId = ''] = /run (\S+)/.exec((await well('task run 1')).out) ?? [];
    await well(`run cancel ${runId}`);
    expect((await type(`run wait ${runId}`)).out).toContain('cancelled');
    expect((await well('task list')).out).toContain('active');
  });

  it('shows how it goes to somebody who watches, and to nobody else', async () => {
    const { well } = await aPlace({ ECHO_ACTION: '1' });
    await well(`${daily} ${echo({ delay_ms: 2000 })} Hello`);
    const watched = await well('task run 1 --wait', { showsProgress: true });
    expect(watched.err).toMatch(/running 500 ms/);
    expect(watched.err.endsWith('\r\u001B[K')).toBe(true);
    expect((await well('task run 1 --wait')).err).toBe('');
  });

  it('goes on when somebody presses Ctrl-C, and that is said', async () => {
    const { well, type } = await aPlace({ ECHO_ACTION: '1' });
    await well(`${daily} ${echo({ delay_ms: 30_000 })} Hello`);
    const interruption = new AbortController();
    const said = await type('task run 1 --wait', {
      interrupted: interruption.signal,
      showsProgress: true,
      heard: (text) => {
        if (text.includes('running')) interruption.abort();
      },
    });
    expect(said.code).toBe(130);
    expect(said.err).toContain('the run continues');
    const [, runId = ''] = /run get (\S+)/.exec(said.err) ?? [];
    expect((await well(`run get ${runId} --json`)).json['status']).toBe('running');
    expect((await well(`run cancel ${runId}`)).out).toContain('Called off');
  });
});

describe('runs', () => {
  it('are listed, narrowed, shown by the beginning of their id, and done again', async () => {
    const { well, type } = await aPlace({ ECHO_ACTION: '1' });
    await well(`${daily} --tag a ${echo({ fail_attempts: 1, error: 'final' })} Hello`);
    await type('task run 1 --wait');
    const listed = await well('run list --status failed --tag a --task 1 --json');
    const [run] = listed.json['runs'] as { readonly run_id: string }[];
    expect((await well('run list')).out).toContain('failed');
    expect((await well('run list --status succeeded')).out).toBe('No runs.\n');
    expect((await well(`run get ${run?.run_id.slice(0, 40) ?? ''}`)).out).toContain('failed');
    expect((await type('run get nothing-begins-so')).code).toBe(3);
    expect((await well(`run result ${run?.run_id ?? ''} --json`)).json['status']).toBe('failed');
    expect(await type(`run cancel ${run?.run_id ?? ''}`)).toMatchObject({ code: 4, out: '' });
    expect((await type(`run replay ${run?.run_id ?? ''} --wait`)).out).toContain('#1 Hello');
  });
});

describe('a message', () => {
  it('is put into the thread that is named', async () => {
    const { bot, well, thread } = await inTheLab();
    const sent = await well(`message send "Backup done" --thread-key ${thread} --mode silent --json`);
    expect(sent.json).toMatchObject({ thread_key: thread });
    expect((await well(`run wait ${String(sent.json['run_id'])}`)).out).toContain('delivered as message');
    expect(bot.texts(lab)).toContain('Backup done');
  });

  it('is read from the input', async () => {
    const { well } = await aPlace();
    const sent = await well('message send --json', { input: 'one\ntwo\n' });
    const runId = String(sent.json['run_id']);
    expect((await well(`run wait ${runId}`)).out).toContain('succeeded');
    expect((await well(`run result ${runId}`)).out).toBe('one\ntwo\n');
  });
});

describe('a file that a run has brought', () => {
  const files = [
    { name: 'a b.txt', size: 300_000 },
    { name: '../b.txt', size: 3 },
  ];
  const bringing = `${daily} ${echo({ files })} Hello`;

  it('is saved under its own name or another, and writes over nothing', async () => {
    const folder = aFolder();
    const { well, type } = await aPlace({ ECHO_ACTION: '1' });
    await well(bringing);
    const { run_id: run } = ((await well('task run 1 --wait --json')).json as { run: { run_id: string } }).run;
    const path = join(folder, 'saved.txt');
    expect((await well(`run attachment ${run} 1 -o ${path}`)).out).toBe(`Saved ${path} (293 kB).\n`);
    expect(readFileSync(path, 'utf8').slice(0, 9)).toBe('a b.txta ');
    expect(readFileSync(path)).toHaveLength(300_000);
    const again = await type(`run attachment ${run} 2 -o ${path}`);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('is there already')]);
    expect(readdirSync(folder)).toEqual(['saved.txt']);
    expect((await type(`run attachment ${run} 3`)).err).toContain('This run has brought 2 files: ask for 1 to 2.');
    expect((await type('run attachment nothing 1')).code).not.toBe(0);
  });
});
