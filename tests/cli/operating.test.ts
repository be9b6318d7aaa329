import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { lab, stopBots } from '../e2e/bot.ts';
import { aFolder } from '../support/place.ts';
import { aPlace, aPlaceAfter } from './place.ts';
import { widest } from './terminal.ts';

afterEach(stopBots);

const daily = 'task create --cron "0 9 * * *" --timezone UTC';

describe('the tasks of a thread', () => {
  it('are paused, resumed and called off together', async () => {
    const { well } = await aPlace();
    for (const name of ['One', 'Two']) await well(`${daily} ${name}`);
    expect((await well('thread pause --until "tomorrow 8:00"')).out).toBe('2 tasks paused.\n');
    expect((await well('thread resume cli:default')).out).toBe('2 tasks resumed.\n');
    expect((await well('thread cancel cli:default')).out).toBe('Called off 0 runs.\n');
  });

  it('are removed only when somebody says yes', async () => {
    const { well, type } = await aPlace();
    for (const name of ['One', 'Two']) await well(`${daily} ${name}`);
    expect((await well('thread purge cli:default --dry-run')).out).toBe(
      '2 tasks of cli:default (2 active, 0 paused, 0 completed).\n',
    );
    const nobody = await type('thread purge cli:default');
    expect(nobody.code).toBe(2);
    expect(nobody.err).toContain('--yes');
    const no = await type('thread purge cli:default', { answers: ['n'] });
    expect(no.code).toBe(1);
    expect(no.err).toContain('Nothing was changed.');
    expect((await well('task list --json')).json['tasks']).toHaveLength(2);
    expect((await well('thread purge cli:default', { answers: ['y'] })).out).toContain('Deleted: 2 tasks');
    expect((await well('thread purge cli:default --yes')).out).toBe('cli:default has no tasks.\n');
  });
});

describe('budgets', () => {
  it('are refused in another currency than that of the prices', async () => {
    const prices = join(aFolder(), 'prices.yaml');
    writeFileSync(prices, 'currency: EUR\nhosts: { localhost: 0.002 }\n');
    const { well, type } = await aPlace({ PRICES: prices });
    const refused = await type('budget set 5 GBP a day');
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('prices are in EUR');
    expect((await well('budget list')).out).toContain('No budgets.');
    expect((await well('budget set 5 EUR a day')).out).toContain('5.00 EUR a day');
    await well('task create --cron "0 9 * * *" --timezone UTC One');
    expect((await type('budget set 5 $ a day --task 1')).err).toContain('prices are in EUR');
  });
});

describe('the tasks of a person', () => {
  it('are counted and removed in one chat, and in all', async () => {
    const { well, type } = await aPlace();
    for (const name of ['One', 'Two', 'Three --thread-key cli:other']) await well(`${daily} ${name}`);
    const { tasks } = (await well('task list --json')).json as {
      readonly tasks: { readonly owner_user_key: string }[];
    };
    const owner = tasks[0]?.owner_user_key ?? '';
    expect((await well(`task purge ${owner} --dry-run`)).out).toContain(`3 tasks of ${owner} (3 active`);
    expect((await type(`task purge ${owner}`, { answers: ['n'] })).code).toBe(1);
    const answer = await well(`task purge ${owner} --thread-key cli:other --yes --json`);
    expect(answer.json).toMatchObject({ deleted: true, counts: { tasks: 1, active: 1 } });
    expect((await well(`task purge ${owner} --yes`)).out).toContain('Deleted: 2 tasks');
    expect((await type('task purge nobody --yes')).code).toBe(3);
  });
});

describe('grants', () => {
  it('are listed, given and revoked', async () => {
    const { well } = await aPlaceAfter(`${daily} Hello`);
    const [first] = (await well('grant list --task 1 --json')).json['grants'] as { readonly grant_id: string }[];
    const made = await well('grant renew 1 --expires "2027-01-31 00:00" --scope action:message --json');
    const { grant_id: second } = made.json['grant'] as { readonly grant_id: string };
    const listed = await well('grant list', { columns: 120 });
    expect(listed.out).toContain(first?.grant_id);
    expect(listed.out).toMatch(new RegExp(`#1 Hello +active .*${second}`));
    expect((await well(`grant revoke ${second}`)).out.replace('\n', ' ')).toContain('is revoked.');
    expect((await well('grant list --state revoked --json')).json['grants']).toHaveLength(2);
  });
});

describe('a right that reaches farther', () => {
  it('is given beside what the task has, and words that are no scope are refused with examples', async () => {
    const { well, type } = await aPlaceAfter(`${daily} Hello`);
    const scopes = async () => {
      const { grants } = (await well('grant list --task 1 --state active --json')).json as {
        readonly grants: readonly { readonly scopes: readonly string[] }[];
      };
      return grants.map((one) => one.scopes);
    };
    expect((await well('grant give 1 "secret:CUSTOMER_*" host:*.example.com')).out).toContain('secret:CUSTOMER_*');
    expect(await scopes()).toEqual([['action:message', 'secret:CUSTOMER_*', 'host:*.example.com']]);
    const refused = await type('grant give 1 everything');
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('host:api.example.com')]);
    expect(await scopes()).toEqual([['action:message', 'secret:CUSTOMER_*', 'host:*.example.com']]);
    expect((await well('grant give 1 secret:NAME --expires "2027-01-31 00:00"')).out).toContain('in 74 days');
  });
});

describe('the context of a task', () => {
  it('is set field by field, shown and emptied', async () => {
    const { well, type } = await aPlaceAfter(`${daily} Hello`);
    expect((await well('context set 1 city New York')).out).toMatch(/has 19 bytes of context now/);
    await well('context set 1 count 3');
    expect((await well('context show 1 --json')).json['context']).toEqual({ city: 'New York', count: 3 });
    expect((await well('context set 1 count 3')).out).toContain('was like that already');
    await well('context set 1 city null');
    expect((await well('context show 1')).out).toBe('{\n  "count": 3\n}\n');
    expect((await type('context set 1 city')).code).toBe(2);
    expect(await type('context set 1 __proto__ 5')).toMatchObject({ code: 2 });
    expect((await well('context reset 1')).out).toContain('has an empty context now.');
    expect((await well('context show 1')).out).toBe('{}\n');
  });
});

describe('who is let in', () => {
  it('is told, and changed for people and groups', async () => {
    const { well, type } = await aPlace();
    expect((await well('access allow 1002')).out).toBe('1002 (user) is let in.\n');
    expect((await well(`access allow telegram:chat:${lab}`)).out).toContain('(group) is let in.');
    expect((await well('access allow 1002')).out).toContain('was let in already');
    const { access } = (await well('access list --json')).json as { readonly access: { readonly id: string }[] };
    expect(access.map(({ id }) => id)).toEqual([String(lab), '1002', '1001']);
    const last = await type('access deny 1001 --json');
    expect([last.code, JSON.parse(last.out)]).toMatchObject([4, { error: { code: 'last_owner' } }]);
    await well('access allow 1002 --owner');
    expect((await well('access deny 1002')).out).toBe('1002 is shut out.\n');
    expect((await well('access list')).out).not.toContain('1002');
    expect((await well('audit --json --limit 1')).json['entries']).toMatchObject([
      { verb: 'deny', actor: 'system:api', task_id: null },
    ]);
    expect((await type('access deny nobody')).code).toBe(3);
  });
});

describe('a stretch of time', () => {
  it.each(['2026-11-01', '"2026-11-01 09:00"', '2026-11-01T09:00', '2026-11-01T09:00:00Z', '24h', 'P2D'])(
    'begins in the past: --from %s',
    async (from) => {
      const { well } = await aPlaceAfter(`${daily} Hello`);
      await well('task run 1 --wait');
      expect((await well(`run list --from ${from} --json`)).json['runs']).toHaveLength(1);
      expect((await well(`usage --from ${from}`)).out).toMatch(/runs +1,/);
      await well(`schedule preview "every day at 9" --after ${from}`);
    },
  );

  it('ends where it is said, and what is no moment is answered with how to write one', async () => {
    const { well, type } = await aPlaceAfter(`${daily} Hello`);
    await well('task run 1 --wait');
    expect((await well('run list --to 2h --json')).json['runs']).toEqual([]);
    expect((await well('run list --to 2026-11-18 --json')).json['runs']).toEqual([]);
    await well('task why 1 --from 2026-11-17 --to 2026-11-18');
    const wrong = await type('usage --from whenever');
    expect(wrong.code).toBe(2);
    expect(wrong.err.replaceAll('\n', ' ')).toContain('or 2h for two hours ago');
  });
});

describe('how the server stands', () => {
  it.each([
    'status',
    'usage',
    'health',
    'version',
    'audit',
    'reconcile',
    'downtimes',
    'tick',
    'events',
    'grant list',
    'access list',
    'run list',
  ])('is told by %s, in 80 columns and as JSON', async (verb) => {
    const { well } = await aPlaceAfter(
      `${daily} "A title that is so long that it would not fit any table at all, whatever it did"`,
    );
    await well('task run 1 --wait');
    const told = await well(verb);
    expect(told.out).not.toBe('');
    expect(widest(told.out + told.err)).toBeLessThanOrEqual(80);
    expect(Object.keys((await well(`${verb} --json`)).json).length).toBeGreaterThan(0);
  });

  it('is clean where nothing is wrong', async () => {
    const { well } = await aPlaceAfter(`${daily} Hello`);
    expect((await well('audit --run')).out).toMatch(/^Everything is in order\.\n\d+ rows? looked at\.\n$/);
    expect((await well('reconcile --fix')).out).toBe('Everything is in order.\n');
    expect((await well('audit --task 1')).out).toContain('create');
  });
});

describe('events', () => {
  it('are told from where they were left', async () => {
    const { well } = await aPlaceAfter(`${daily} Hello`);
    const all = await well('events --kind task. --json');
    expect(all.json['events']).toMatchObject([{ kind: 'task.create' }]);
    expect((await well(`events --after ${String(all.json['next_cursor'])}`)).out).toBe('No events.\n');
    expect((await well('events --kind run. --json')).json['events']).toEqual([]);
  });

  it('are followed until somebody presses Ctrl-C', async () => {
    const { bot, well, type } = await aPlace();
    await well(`${daily} Hello`);
    const interruption = new AbortController();
    const following = type('events --follow --json', {
      interrupted: interruption.signal,
      heard: (text) => {
        if (text.includes('task.pause')) interruption.abort();
      },
    });
    // Following begins behind the newest event, so that it must be listening before something happens.
    let isOver = false;
    void following.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await well('task pause 1');
      await well('task resume 1');
      await bot.drift(1000);
    }
    const said = await following;
    expect(said.code).toBe(0);
    const kinds = said.out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { readonly kind: string }).kind);
    expect(kinds).toContain('task.pause');
    expect(kinds).not.toContain('task.create');
  });
});

describe('the sandbox', () => {
  it('hears what people say, lets buttons be pressed, and jumps', async () => {
    const { bot, well, type } = await aPlace({ TELEGRAM_CHATS: String(lab) });
    // The command waits for an answer, so that time has to go on for the bot to give one.
    const during = async (words: string) => {
      const said = type(words);
      let isOver = false;
      void said.finally(() => {
        isOver = true;
      });
      while (!isOver) await bot.drift(250);
      return said;
    };
    const preview = await during('sandbox say "/new every day at 9:30 Hello there"');
    expect(preview.out).toContain('[Create]');
    const created = await during('sandbox press Create');
    expect(created.code).toBe(0);
    const jumped = await during('sandbox jump --json');
    expect(jumped.json['now']).toMatch(/^2026-11-18T09:30:00/);
    expect((await during('sandbox jump 1h')).out).toContain('The sandbox is at');
    await during('sandbox say /allow --chat "the lab"');
    expect((await during('sandbox say /tasks --chat lab')).out).toContain('shown to ada alone\n');
    expect((await type('sandbox press Nonsense')).code).toBe(3);
    expect((await type('sandbox say hello --as nobody')).code).toBe(3);
    expect((await well('task list --json')).json['tasks']).toHaveLength(1);
  });
});
