import { describe, expect, it } from 'vitest';
import { actor, day, group, hour, hourly, minute, texts } from '../../../support/pipeline.ts';
import { type Answer, caller, json } from './caller.ts';

describe('a task that calls an address', () => {
  it('shows what came, and keeps all of the answer for programs', async () => {
    const { p, seen, pass, fetching, lastOutput } = await caller(json({ price: 7 }));
    const task = await fetching({});
    await pass(hour);
    expect(texts(p)).toEqual(['{\n  "price": 7\n}']);
    expect(seen).toMatchObject([{ method: 'GET', url: '/price', body: '' }]);
    expect(await lastOutput(task.id)).toMatchObject({
      type: 'http',
      data: { status: 200, ok: true, headers: { 'content-type': 'application/json' }, body: { price: 7 } },
    });
    expect(await p.history(task.id)).toMatchObject([{ status: 'succeeded', attempts: [{ httpStatus: 200 }] }]);
    const usage = p.database.prepare('select kind, quantity from usage order by kind').all();
    expect(usage).toEqual([
      { kind: 'bytes', quantity: 11 },
      { kind: 'requests', quantity: 1 },
    ]);
  });

  it('stays within the hosts to which its chat keeps its tasks', async () => {
    const { p, seen, pass, fetching } = await caller(json({ price: 7 }));
    const task = await fetching({});
    await p.store.changeChat(task.chatId, { settings: { hosts: ['*.example.org'] } }, p.time.now());
    await pass(hour);
    expect(seen).toEqual([]);
    expect(await p.history(task.id)).toMatchObject([
      { status: 'failed', error: expect.stringContaining('to which this chat keeps its tasks') as string },
    ]);
    await p.store.changeChat(task.chatId, { settings: { hosts: ['*.example.org', 'api.example.com'] } }, p.time.now());
    await pass(hour);
    expect(seen).toHaveLength(1);
    // A setting that cannot be read opens nothing.
    await p.store.changeChat(task.chatId, { settings: { hosts: 'api.example.com' } }, p.time.now());
    await pass(hour);
    expect(seen).toHaveLength(1);
  });

  it('is refused at once where its chat does not let it go, when it is made, changed or tried out', async () => {
    const { p, base, fetching } = await caller(json({ price: 7 }));
    const task = await fetching({});
    await p.store.changeChat(task.chatId, { settings: { hosts: ['*.example.org'] } }, p.time.now());
    const refusal = {
      code: 'invalid_action',
      message: expect.stringContaining('to which this chat keeps its tasks') as string,
      details: expect.objectContaining({ field: 'action.url' }) as object,
    };
    await expect(fetching({})).rejects.toMatchObject(refusal);
    const action = { kind: 'http', url: `${base}/other` };
    const target = { taskId: task.id, actor } as const;
    await expect(p.rooms.tasks.edit(target, { action })).rejects.toMatchObject(refusal);
    const wish = { threadKey: group, title: 'x', instructions: '', action, actor } as const;
    await expect(p.rooms.testRuns.check(wish)).rejects.toMatchObject(refusal);
    await p.store.changeChat(task.chatId, { settings: { hosts: ['api.example.com'] } }, p.time.now());
    await p.rooms.tasks.edit(target, { action });
  });

  it('is told when its own timeout is cut short by that of the attempt', async () => {
    const { p, base, fetching } = await caller(json({}));
    const task = await fetching({ timeout: 'PT20S' });
    const target = { taskId: task.id, actor } as const;
    const warned = async (patch: Parameters<typeof p.rooms.tasks.edit>[1]) =>
      (await p.rooms.tasks.edit(target, patch)).warnings.map(({ code, message }) => [code, message]);
    const words =
      'One request may take 2 minutes, but an attempt ends after 30 seconds, so that is all the time it gets. Raise the policy timeout, or lower action.timeout.';
    const action = { kind: 'http', url: base, timeout: 'PT2M' };
    expect(await warned({ action })).toEqual([['timeout_cut', words]]);
    expect(await warned({ title: 'Another' })).toEqual([]);
    expect(await warned({ policies: { timeout: 'PT2M' } })).toEqual([]);
    expect(await warned({ policies: { timeout: 'PT10S' } })).toMatchObject([['timeout_cut', expect.anything()]]);
  });

  it('is told what an outage can bring at once, where its slots are made up', async () => {
    const { p, fetching } = await caller(json({}));
    const words =
      'After a long outage up to 7 runs come at once: 7 requests. Lower the policy missed_limit, or set missed to once, where that is too much.';
    const warning = { code: 'catch_up_costs', message: words };
    const task = await fetching({});
    const target = { taskId: task.id, actor } as const;
    const edited = async (policies: object) => (await p.rooms.tasks.edit(target, { policies })).warnings;
    expect(await edited({ missed: 'all', missed_limit: 7 })).toEqual([warning]);
    expect(await edited({ timeout: 'PT20S' })).toEqual([]);
    expect(await edited({ missed: 'ask' })).toEqual([warning]);
    expect(await edited({ missed: 'once' })).toEqual([]);
    const made = await p.rooms.tasks.create({
      threadKey: group,
      actor,
      idempotencyKey: null,
      input: { ...task, policies: { missed: 'all', missed_limit: 7 }, schedule: hourly, subject: undefined },
    });
    expect(made.warnings).toEqual([warning]);
  });

  it('carries the same key each time a slot is tried, another for each slot, and the envelope', async () => {
    const { p, seen, pass, fetching } = await caller((response) =>
      response.writeHead(seen.length % 2 === 1 ? 503 : 200).end(),
    );
    const context = { greeting: 'Hello' };
    const task = await fetching(
      { method: 'POST' },
      {
        instructions: '{{ context.greeting }}, {{ task.title }}',
        context,
        policies: { retry: { base: 'PT1M', jitter: 0 } },
      },
    );
    await pass(hour);
    await pass(minute);
    await pass(hour);
    const at = (await p.history(task.id)).map(({ slotAt }) => slotAt);
    expect(seen.map(({ headers }) => [headers['idempotency-key'], headers['x-schedule-attempt']])).toEqual([
      [`sched:${task.id}:${at[0]}`, '1'],
      [`sched:${task.id}:${at[0]}`, '2'],
      [`sched:${task.id}:${at[1]}`, '1'],
    ]);
    expect(seen[0]?.headers).toMatchObject({ 'x-schedule-id': task.id, 'x-schedule-time': '2026-11-18T10:00:00.000Z' });
    expect(JSON.parse(seen[1]?.body ?? '')).toMatchObject({
      task_id: task.id,
      title: 'Price',
      scheduled_for: '2026-11-18T10:00:00.000Z',
      attempt: 2,
      payload: { text: 'Hello, Price', context },
    });
  });

  it('fills in its templates, and those of the answer', async () => {
    const { p, seen, pass, fetching, base } = await caller(
      json({
        items: [
          { name: 'a', price: 3 },
          { name: 'b', price: 9 },
        ],
      }),
    );
    await fetching(
      {
        url: `${base}/{{ context.path }}`,
        query: { q: '{{ task.title }} & more' },
        headers: { 'x-number': '{{ task.number }}' },
        body: { deep: ['{{ context.path }}'] },
        select: 'items[price > 5].name',
        template:
          '{{ status }} {{ headers["content-type"] }} {{ value }} {{ body.items[0].price }} {{ previous | default: "first" }}',
      },
      { context: { path: 'x"y' } },
    );
    await pass(hour);
    await pass(hour);
    expect(texts(p)).toEqual(['200 application/json b 3 first', '200 application/json b 3 b']);
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: '/x%22y?q=Price+%26+more',
      headers: { 'x-number': '1' },
      body: '{"deep":["x\\"y"]}',
    });
  });

  it('says nothing where its template has nothing to say', async () => {
    const { p, pass, fetching } = await caller(json({ price: 3 }));
    const task = await fetching({ template: '{% if body.price > 5 %}Dear!{% endif %}' });
    await pass(hour);
    expect(texts(p)).toEqual([]);
    expect(await p.history(task.id)).toMatchObject([{ status: 'succeeded', deliveries: [] }]);
  });

  it('says what came where there is nothing to show', async () => {
    const { p, pass, fetching } = await caller((response) => response.writeHead(204).end());
    await fetching({});
    await pass(hour);
    expect(texts(p).join()).toMatch(/^api\.example\.com:\d+ answered 204\.$/);
  });
});

describe('settings that cannot be carried out', () => {
  it.each([[[1]], [{ a: { b: 1 } }], [7]])('are refused at once where they are no form: %j', async (body) => {
    const { fetching } = await caller(json({}));
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    await expect(fetching({ method: 'POST', headers, body })).rejects.toMatchObject({
      code: 'invalid_action',
      message: expect.stringMatching(/^action\.body.* Example: \{"name": "Ada"/) as string,
    });
    await fetching({ method: 'POST', headers, body: { a: [1, '{{ run.number }}'], b: true } });
  });

  it.each([
    [
      'a template',
      { url: 'http://api.example.com/{{ context.missing }}' },
      /action\.url: unknown variable: context\.missing/,
    ],
    ['an address', { url: '{{ context.url }}' }, /action\.url is an absolute address/],
    ['a target', { url: '{{ context.inside }}' }, /action\.url: /],
    ['an expression', { select: '$number(name)' }, /action\.select: /],
    ['a template of the answer', { template: '{{ body.nothing.there }}' }, /action\.template: unknown variable/],
  ])('end the run at once, by its own code, and pause the task in the end: %s', async (_what, action, error) => {
    const { p, pass, fetching } = await caller(json({ name: 'x' }));
    const context = { url: 'ftp://example.com', inside: 'http://127.0.0.1:1/' };
    const task = await fetching(action, { context, policies: { auto_pause: 3 } });
    for (let hours = 0; hours < 3; hours += 1) await pass(hour);
    const [run] = await p.history(task.id);
    expect(run).toMatchObject({ status: 'failed', error: expect.stringMatching(error) as string });
    expect(run?.attempts).toHaveLength(1);
    expect(await p.store.readRun(run?.runId ?? '')).toMatchObject({ errorCode: 'invalid_action' });
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({
      state: 'paused',
      pausedReason: 'auto:consecutive_failures',
    });
  });

  it('of an older release end the run in the same way, and nothing else is held up by them', async () => {
    const { p, pass, fetching } = await caller(json({}));
    const task = await fetching({}, { policies: { approval: 'required' } });
    p.database
      .prepare('update tasks set action = ?')
      .run(JSON.stringify({ kind: 'http', url: 'gopher://example.com' }));
    await p.create({ instructions: 'Stand up!', schedule: hourly });
    await pass(hour);
    const [run] = await p.history(task.id);
    expect(await p.store.readRun(run?.runId ?? '')).toMatchObject({ status: 'failed', errorCode: 'invalid_action' });
    expect(texts(p)).toContain('Stand up!');
  });

  it.each([
    [{ url: 'http://127.0.0.1/' }, 'action.url'],
    [{ url: 'http://169.254.169.254/latest/meta-data' }, 'action.url'],
    [{ template: '{{ nobody }}' }, 'action.template'],
    [{ query: { a: '{{ nobody }}' } }, 'action.query'],
    [{ headers: { 'X-Schedule-Id': '1' } }, 'action.headers'],
    [{ select: 'a[' }, 'action.select'],
    [{ auth: { kind: 'bearer' } }, 'action.auth.secret'],
  ])('are refused before there is a task: %j', async (action, field) => {
    const { fetching } = await caller(json({}));
    await expect(fetching(action)).rejects.toMatchObject({ code: 'invalid_action', details: { field } });
  });
});

describe('a task that watches', () => {
  const prices = (...all: readonly unknown[]): Answer => {
    const left = [...all];
    return (response, seen) => json(left.length > 1 ? left.shift() : left[0])(response, seen);
  };

  it('a value shows changes alone, before and after', async () => {
    const { p, pass, fetching } = await caller(prices({ price: 41 }, { price: 41 }, { price: 42 }, { price: 42 }));
    const task = await fetching({ select: 'price', watch: { on: 'value' } });
    for (let hours = 0; hours < 4; hours += 1) await pass(hour);
    expect(texts(p)).toEqual(['Price has changed:\n\n41 → 42']);
    expect((await p.history(task.id)).map(({ status, reason }) => [status, reason])).toEqual([
      ['succeeded', null],
      ['succeeded', 'unchanged'],
      ['succeeded', null],
      ['succeeded', 'unchanged'],
    ]);
  });

  it('a body shows the lines that changed, and the first one where that is wanted', async () => {
    const { p, pass, fetching } = await caller(prices({ a: 1, b: 2, c: 3 }, { a: 1, b: 7, c: 3 }));
    await fetching({ watch: { on: 'body', first: 'send' } });
    await pass(hour);
    await pass(hour);
    expect(texts(p)).toEqual([
      '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}',
      'Price has changed:\n\n    "a": 1,\n-   "b": 2,\n+   "b": 7,\n    "c": 3',
    ]);
  });

  it('has words of its own, with the difference below, or in them', async () => {
    const { p, pass, fetching } = await caller(prices({ price: 41 }, { price: 41 }, { price: 42 }, { price: 42 }));
    const watch = { on: 'value', first: 'silent' };
    await fetching({ select: 'price', watch, template: 'Now {{ value }}.' });
    await fetching({ select: 'price', watch, template: '{{ previous }} became {{ value }}.' }, { title: 'Other' });
    await pass(hour);
    await pass(hour);
    expect(texts(p).toSorted()).toEqual(['41 became 42.', 'Now 42.\n\n41 → 42']);
  });

  it('is told to whoever asks by hand, also where nothing is new', async () => {
    const { p, pass, settle, fetching } = await caller(prices({ price: 41 }));
    const task = await fetching({ select: 'price', watch: { on: 'value' } });
    await pass(hour);
    await p.rooms.tasks.runNow({ taskId: task.id, actor });
    await settle();
    expect(texts(p)).toEqual(['41']);
  });

  it('keeps what it saw over failures', async () => {
    const { p, pass, seen, fetching } = await caller((response) => {
      if (seen.length === 2) response.writeHead(404).end();
      else response.end(seen.length === 1 ? 'old' : 'new');
    });
    await fetching({ watch: { on: 'body' } });
    for (let hours = 0; hours < 3; hours += 1) await pass(hour);
    expect(texts(p)).toContain('Price has changed:\n\nold → new');
  });

  it('does not go with the policy that does the same', async () => {
    const { fetching } = await caller(json({}));
    const policies = { skip_if_unchanged: 'skip' };
    await expect(fetching({ watch: { on: 'body' } }, { policies })).rejects.toMatchObject({ code: 'invalid_policy' });
  });
});

describe('many calls of one host', () => {
  it('take turns, and begin no attempt before that', async () => {
    let [live, most] = [0, 0];
    const held: (() => void)[] = [];
    const { p, seen, fetching, settle } = await caller((response) => {
      live += 1;
      most = Math.max(most, live);
      held.push(() => {
        live -= 1;
        response.end('ok');
      });
    });
    for (let task = 0; task < 9; task += 1) await fetching({}, { title: `T${task}` });
    await p.time.advance(hour);
    await p.settle();
    const waiting = () =>
      p.database.prepare(`select count(*) from runs where status = 'backoff' and attempts = 0`).pluck().get();
    await expect.poll(() => seen.length).toBe(4);
    expect(waiting()).toBe(5);
    for (let done = 1; done <= 9; done += 1) {
      await expect.poll(() => held.length).toBeGreaterThan(0);
      held.shift()?.();
      const ended = async () => {
        await p.settle();
        return p.database.prepare(`select count(*) from runs where status = 'succeeded'`).pluck().get();
      };
      await expect.poll(ended).toBe(done);
    }
    await settle();
    expect(seen).toHaveLength(9);
    expect(most).toBe(4);
    expect(p.database.prepare('select count(*) from attempts').pluck().get()).toBe(9);
  });
});

it('becomes stale like every result that is to be kept fresh', async () => {
  let isDown = false;
  const { p, pass, fetching } = await caller((response) => response.writeHead(isDown ? 500 : 200).end('ok'));
  const schedule = { kind: 'cron', cron: '0 10 * * *', timezone: 'UTC' } as const;
  const task = await fetching({}, { schedule, policies: { refresh_after: 'PT2H', retry: { attempts: 1 } } });
  await pass(hour);
  isDown = true;
  await pass(day);
  const { staleAt } = await p.rooms.tasks.get(task.id);
  expect(staleAt).not.toBeNull();
});
