import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from '../../src/cli/client.ts';
import { threadNamed } from '../../src/cli/naming.ts';
import { lab, minute, stopBots } from '../e2e/bot.ts';
import { aPlace, aPlaceAfter } from './place.ts';

afterEach(stopBots);

const taskIn = ({ json }: { json: Record<string, unknown> }) =>
  json['task'] as { readonly task_id: string; readonly title: string };

describe('a task on the command line', () => {
  it('of another thread is offered by its id to whoever names it by its number alone', async () => {
    const { well, type } = await aPlace();
    const made = await well('task create --cron "0 9 * * *" --timezone UTC --thread-key cli:other Hello --json');
    const said = await type('task why 1');
    expect(said.code).toBe(3);
    const [, id = ''] = /^ {2}(\S+) {2}cli:other {2}#1 Hello$/m.exec(said.err) ?? [];
    expect((await well(`task get ${id}`)).out).toContain(taskIn(made).task_id);
    expect((await type('task why 2')).err).toContain('"cronogram task list"');
  });

  it('is found by the beginning of its id, and not by one that several begin with', async () => {
    const { well, type } = await aPlace();
    const first = taskIn(await well('task create --cron "0 9 * * *" --timezone UTC One --json'));
    const second = taskIn(await well('task create --cron "0 9 * * *" --timezone UTC Two --json'));
    let same = 0;
    while (first.task_id[same] === second.task_id[same]) same += 1;
    expect(taskIn(await well(`task get ${second.task_id.slice(0, same + 1)} --json`)).title).toBe('Two');
    const both = await type(`task get ${first.task_id.slice(0, same)}`);
    expect(both.code).toBe(2);
    expect(both.err).toContain(first.task_id);
    expect(both.err).toContain(second.task_id);
    expect((await type('task get nothing-begins-so')).code).toBe(3);
  });

  it('is found by its title, in part and in any case; two that fit and one that is misspelt are told', async () => {
    const { bot, well, type } = await aPlaceAfter('task create --every 1h --timezone UTC "Weekly report"');
    await well('task create --every 1h --timezone UTC "Call mum"');
    expect((await well('task get "weekly REPORT"')).out).toContain('#1 Weekly report');
    expect((await well('task next report')).out).toContain('(UTC)');
    const misspelt = await type('task delete "weekly raport"');
    expect(misspelt).toMatchObject({ code: 3, out: '' });
    expect(misspelt.err).toMatch(/Did you mean:\n {2}\S+ {2}cli:default {2}#1 Weekly report\n/);
    await well('task create --when "in 5 minutes" --timezone UTC --thread-key cli:b "Call mum"');
    const both = await type('task pause "call mum"');
    expect(both.code).toBe(2);
    expect(both.err).toMatch(/cli:b {2}#1 Call mum\n.*cli:default {2}#2 Call mum/);
    // What may still run is meant before what has ended.
    await bot.pass(10 * minute);
    expect((await well('task pause "call mum"')).out).toContain('Paused #2 Call mum.');
    expect((await type('task get "call dad"')).code).toBe(3);
  });

  it('is in a thread that may be named by the title of its chat', async () => {
    const { bot, well, type } = await aPlace({ TELEGRAM_OWNERS: '1001' });
    await bot.say('ada', lab, '/allow');
    await well('task create --every 1h --timezone UTC --thread-key lab Hello');
    const key = `telegram:chat:${lab}`;
    expect((await well('task list --thread-key "the lab" --json')).out).toContain(key);
    expect((await well(`task get 1 --thread-key ${lab}`)).out).toContain(key);
    expect((await well('thread pause "The Lab"')).out).toBe('1 task paused.\n');
    await well('task create --every 1h --timezone UTC Elsewhere');
    expect((await well('task attach elsewhere lab')).out).toContain(`Attached to ${key}:`);
    expect(await type('task list --thread-key nowhere')).toMatchObject({ code: 3 });
  });

  it('is in a thread that may be named by its title also when its chat is denied, and a person by their name', async () => {
    const { bot, well, type } = await aPlace({ TELEGRAM_OWNERS: '1001' });
    await bot.say('ada', lab, '/allow');
    await bot.say('ada', lab, '/tz Madrid');
    await well('task create --every 1h --timezone UTC --thread-key lab Hello');
    expect((await well('access deny "the lab"')).out).toBe('the lab is shut out. 1 task there paused.\n');
    const key = `telegram:chat:${lab}`;
    expect((await well('task list --thread-key "the lab" --json')).out).toContain(key);
    expect((await well('thread list')).out).toMatch(new RegExp(`${key} +The Lab +refused +Europe/Madrid\n`));
    expect((await well('task purge ada --dry-run')).out).toContain('1 task of telegram:user:1001 ');
    expect((await well('grant list --owner ada --json')).json).toMatchObject({ grants: [{}] });
    expect((await well('usage --user ada --json')).json).toMatchObject({ runs: 0 });
    // A group is no person.
    expect(await type('task purge "the lab"')).toMatchObject({ code: 3 });
  });

  it('names its newest run, and its grant', async () => {
    const { well, type } = await aPlaceAfter('task create --every 1h --timezone UTC "Call mum"');
    expect(await type('run get "call mum"')).toMatchObject({ code: 3, err: '"Call mum" has not run yet.\n' });
    await well('task run 1 --wait');
    const { run } = (await well('task run 1 --wait --json')).json as { readonly run: { readonly run_id: string } };
    for (const name of ['"call mum"', '1', 'mum']) expect((await well(`run get ${name}`)).out).toContain(run.run_id);
    expect((await well('run result mum')).out).toBe('Call mum\n');
    expect(await type('run get 01f')).toMatchObject({ code: 3 });
    expect((await well('grant revoke "call mum"')).out).toMatch(/^Grant \S+ is revoked\.\n$/);
    expect(await type('grant revoke mum')).toMatchObject({
      code: 3,
      err: '#1 Call mum has no grant that could be revoked.\n',
    });
  });

  it('is in no thread whose name is misspelt or borne by several, and a few of those are told', async () => {
    const names = ['Reports', 'Alarm', 'alarm', 'ALARM', 'Alarm'];
    const threads = names.map((title, index) => ({ thread_key: `telegram:chat:-${index}`, title }));
    const client = { call: async () => ({ threads, next_cursor: null }) } as unknown as Client;
    await expect(threadNamed(client, 'raports')).rejects.toMatchObject({ code: 'thread_not_found', exitCode: 3 });
    const several = await threadNamed(client, 'alarm').catch((error: unknown) => error);
    expect(several).toMatchObject({ code: 'ambiguous', exitCode: 2 });
    expect(String(several)).toMatch(/-3 {2}ALARM\n {2}and 1 more\n/);
  });

  it('is named by its number in the thread that is named, and in no other', async () => {
    const { well, type } = await aPlaceAfter('task create --cron "0 9 * * *" --timezone UTC Here');
    await well('task create --cron "0 9 * * *" --timezone UTC There --thread-key cli:other');
    expect((await well('task get 1')).out).toContain('#1 Here');
    expect((await well('task get 1 --thread-key cli:other')).out).toContain('#1 There');
    expect((await well('task get 1', { environment: { CRONOGRAM_THREAD_KEY: 'cli:other' } })).out).toContain(
      '#1 There',
    );
    const none = await type('task get 7 --thread-key cli:other');
    expect(none).toMatchObject({ code: 3, err: 'There is no task #7 in cli:other.\n' });
  });
});
