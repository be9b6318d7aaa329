import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../../src/app/actions/action.ts';
import type { ActionEntry } from '../../../../src/app/actions/registry.ts';
import { registry } from '../../../../src/app/actions/registry.ts';
import { calls, withHttp, type Calls } from '../../../support/actions.ts';
import { day } from '../../../support/pipeline.ts';
import { aTalk, labels, type Message, type Talk, type TalkOptions } from '../talk.ts';

const price = 'https://api.example.com/price';

interface Trying extends TalkOptions {
  readonly made?: Calls;
}

const talkWith = ({ made = calls(), ...options }: Trying = {}) => aTalk({ actions: withHttp(made), ...options });

async function tasksOf(talk: Talk) {
  const { items } = await talk.pipeline.rooms.tasks.list({
    thread: null,
    state: 'all',
    text: null,
    tag: null,
    subject: null,
    limit: 10,
    cursor: null,
  });
  return items;
}

async function created(talk: Talk, preview: Message) {
  await talk.press(preview, 'Create');
  const [task] = await tasksOf(talk);
  return task;
}

/** What the runs of the talk have put into the outbox. */
function broughtBy({ pipeline }: Talk): readonly unknown[] {
  const found = pipeline.database
    .prepare('select content from deliveries where run_id is not null order by id')
    .pluck();
  return found.all().map((text): unknown => JSON.parse(String(text)));
}

describe('/fetch', () => {
  it('shows what it calls, when, what it reaches, what that costs and for how long it is tried', async () => {
    const talk = await talkWith();
    const preview = await talk.ask(`/fetch every day at 9 GET ${price} {{ body.price }}`);
    expect(preview.text).toBe(
      [
        'New task: api.example.com/price',
        `GET ${price}`,
        'Every day at 09:00',
        'Zone: UTC',
        'Next: Thu 19 Nov 09:00, Fri 20 Nov 09:00, Sat 21 Nov 09:00',
        '',
        'template: {{ body.price }}',
        '',
        'Reaches api.example.com',
        'About 1 request a day, 30 requests a month',
        'Tried up to 3 times, within about 3 min in all',
      ].join('\n'),
    );
    expect(labels(preview)).toEqual([['Create', 'Test now'], ['Change time', 'Cancel'], ['Change call']]);
    expect(await created(talk, preview)).toMatchObject({
      title: 'api.example.com/price',
      instructions: '',
      action: { kind: 'http', url: price, template: '{{ body.price }}' },
      schedule: { kind: 'cron', cron: '0 9 * * *' },
    });
  });

  it.each([
    ['/fetch every hour api.example.com/price', { url: price }, 'Assumed: https'],
    [`/fetch every monday at 8 post ${price}`, { method: 'POST', url: price }, 'POST '],
    [`/fetch every day at 9 the price ${price}`, { url: price }, 'New task: the price'],
    [`/fetch ${price} every day at 9 {{ status }}`, { url: price, template: '{{ status }}' }, 'Every day at 09:00'],
    [`/fetch every day at 9 ${price}/{{ context.id }}/now`, { url: `${price}/{{ context.id }}/now` }, 'GET '],
    [
      `/fetch every day at 9 ${price}\n{% if ok %}\nfine\n{% endif %}`,
      { template: '{% if ok %}\nfine\n{% endif %}' },
      '',
    ],
  ])('reads %s', async (words, action, told) => {
    const talk = await talkWith();
    const preview = await talk.ask(words);
    expect(preview.text).toContain(told);
    expect((await created(talk, preview))?.action).toMatchObject(action);
  });

  it.each([
    [`/fetch every day at 9 OPTIONS ${price}`, 'action.method: OPTIONS is not one of GET, HEAD, POST'],
    ['/fetch every day at 9 ftp://example.com/x', 'ftp://example.com/x is not an http or https address'],
  ])('refuses %s by name, with an example', async (words, told) => {
    const talk = await talkWith();
    const answer = await talk.ask(words);
    expect(answer.text).toContain(told);
    expect(answer.text).toContain('For example');
    expect(await tasksOf(talk)).toEqual([]);
  });

  it.each([
    ['watch body', { watch: { on: 'body' } }, 'watch: on: body'],
    ['watch', { watch: { on: 'body' } }, 'watch'],
    ['and watch the page first send', { watch: { on: 'body', first: 'send' } }, 'first: send'],
    [
      '{{ difference }} watch body',
      { watch: { on: 'body' }, template: '{{ difference }}' },
      'template: {{ difference }}',
    ],
    ['Europe/Madrid', {}, 'Zone: Europe/Madrid'],
    ['in Madrid', {}, 'Zone: Europe/Madrid'],
    ['in Madrid watch body', { watch: { on: 'body' } }, 'Zone: Europe/Madrid'],
    ['until friday', {}, 'until'],
    ['in Madrid Tea: {{ body.price }}', { template: 'Tea: {{ body.price }}' }, 'Zone: Europe/Madrid'],
    ['{{ body.price }} Europe/Madrid', { template: '{{ body.price }}' }, 'Zone: Europe/Madrid'],
    ['{{ body.price }} in Madrid', { template: '{{ body.price }} in Madrid' }, 'Zone: UTC'],
    ['Watch out: {{ body }}', { template: 'Watch out: {{ body }}' }, 'Zone: UTC'],
    ['Tea costs {{ body.price }}', { template: 'Tea costs {{ body.price }}' }, 'Zone: UTC'],
    ['{{ body }} by https://example.com', { template: '{{ body }} by https://example.com' }, 'Zone: UTC'],
    ['Rain at 9', { template: 'Rain at 9' }, 'Every day at 09:00'],
    ['\nEurope/Madrid', { template: 'Europe/Madrid' }, 'Zone: UTC'],
  ])('reads %j behind the address as what it is', async (behind, action, told) => {
    const talk = await talkWith();
    const preview = await talk.ask(`/fetch every day at 9 ${price} ${behind}`);
    expect(preview.text).toContain(told);
    expect((await created(talk, preview))?.action).toEqual({ kind: 'http', url: price, ...action });
  });

  it('takes an hour behind the address into the time', async () => {
    const talk = await talkWith();
    const preview = await talk.ask(`/fetch every monday ${price} at 18:00`);
    expect(preview.text).toContain('Every Monday at 18:00');
  });

  it.each([
    [`/fetch every day at 9 ${price} https://example.com/other`, 'https://example.com/other is a second address'],
    [`/fetch every day at 9 ${price} example.com/other`, 'example.com/other is a second address'],
    [`/fetch every day at 9 PURGE ${price}`, 'PURGE is not one of GET, HEAD'],
    [`/fetch every day at 9 PSOT ${price}`, 'A name goes before the time'],
    [`/fetch PSOT ${price}`, 'PSOT is not one of GET'],
    [`/fetch every hour ${price} Europe/Madrid`, 'Europe/Madrid'],
    [`/fetch every hour ${price} every day`, 'do not fit together'],
  ])('asks about %s', async (words, told) => {
    const talk = await talkWith();
    const answer = await talk.ask(words);
    expect(answer.text).toContain(told);
    expect(labels(answer).flat()).not.toContain('Create');
  });

  it('takes a name in capitals before the time, and an hour in capitals before the address', async () => {
    const talk = await talkWith();
    const preview = await talk.ask(`/fetch NASA every day at 9 AM ${price}`);
    expect(preview.text).toContain('New task: NASA');
    expect(preview.text).toContain('Every day at 09:00');
  });

  it('forgets what was assumed of a call that was changed', async () => {
    const talk = await talkWith({ kind: 'private' });
    const preview = await talk.ask('/fetch every day at 9 example.com/price');
    expect(preview.text).toContain('Assumed: https');
    await talk.press(preview, 'Change call');
    const other = await talk.ask('http://example.com/other');
    expect(other.text).toContain('GET http://example.com/other');
    expect(other.text).not.toContain('Assumed');
  });

  it('drops nothing that stands before the address of a changed call', async () => {
    const talk = await talkWith({ kind: 'private' });
    const preview = await talk.ask(`/fetch every day at 9 ${price}`);
    await talk.press(preview, 'Change call');
    expect((await talk.ask(`PSOT ${price}`)).text).toContain('PSOT is not one of GET');
    const later = await talk.ask(`every day at 18:00 ${price}s`);
    expect(later.text).toContain('Every day at 18:00');
    expect(later.text).toContain(`GET ${price}s`);
  });

  it('asks for the time alone where only the address was said', async () => {
    const talk = await talkWith();
    const question = await talk.ask(`/fetch ${price}`);
    expect(question.text).toContain('When should I fetch it?');
    expect(question.text).toContain('api.example.com/price');
    const preview = await talk.ask('every day at 9', { repliesTo: question.id });
    expect(preview.text).toContain(`GET ${price}`);
    expect((await created(talk, preview))?.schedule).toMatchObject({ cron: '0 9 * * *' });
  });

  it('asks for the address alone where only the time was said', async () => {
    const talk = await talkWith();
    const question = await talk.ask('/fetch every day at 9');
    expect(question.text).toContain('What should I fetch?');
    const again = await talk.ask('no idea', { repliesTo: question.id });
    expect(again.text).toContain('What should I fetch?');
    const preview = await talk.ask(`${price} {{ body }}`, { repliesTo: again.id });
    expect((await created(talk, preview))?.action).toMatchObject({ url: price, template: '{{ body }}' });
  });

  it('guides by buttons when nothing was said', async () => {
    const talk = await talkWith({ kind: 'private' });
    const question = await talk.ask('/fetch');
    expect(question.text).toContain('When should I fetch it?');
    await talk.press(question, 'Every day');
    await talk.press(question, '09:00');
    await talk.press(question, '09:30');
    expect(question.text).toContain('What should I fetch?');
    const preview = await talk.ask(price);
    expect((await created(talk, preview))?.schedule).toMatchObject({ cron: '30 9 * * *' });
  });

  it('lets time and call be changed before it is made', async () => {
    const talk = await talkWith({ kind: 'private' });
    const preview = await talk.ask(`/fetch every day at 9 ${price}`);
    await talk.press(preview, 'Change call');
    expect(preview.text).toContain('What should I fetch?');
    const other = await talk.ask('POST https://example.com/hook');
    expect(other.text).toContain('POST https://example.com/hook');
    await talk.say('at 10');
    expect((await created(talk, other))?.action).toMatchObject({ method: 'POST', url: 'https://example.com/hook' });
    expect((await tasksOf(talk))[0]?.schedule).toMatchObject({ cron: '0 10 * * *' });
  });

  it('reads the words again when they are edited', async () => {
    const talk = await talkWith({ kind: 'private' });
    const preview = await talk.ask(`/fetch every day at 9 ${price}`);
    await talk.edit(`/fetch every day at 10 ${price}s`);
    expect(preview.text).toContain(`GET ${price}s`);
    expect(preview.text).toContain('Every day at 10:00');
  });

  it.each([
    'http://ada:secret@example.com/x',
    'http://10.0.0.1/x',
    'http://169.254.169.254/latest',
    `${price} {{ body.price`,
  ])('says at once of %s that it can never be done', async (call) => {
    const talk = await aTalk();
    const told = await talk.ask(`/fetch every day at 9 ${call}`);
    expect(told.text).toMatch(/action\.(?:url|template)/);
    expect(told.text).not.toContain('secret');
    expect(labels(told).flat()).not.toContain('Create');
    expect(await tasksOf(talk)).toEqual([]);
  });

  it('hides keys that stand in an address', async () => {
    const talk = await talkWith();
    const { text } = await talk.ask(`/fetch every day at 9 ${price}?api_key=abc123&x=1`);
    expect(text).toContain(`${price}?api_key=•••&x=1`);
    expect(text).not.toContain('abc123');
  });
});

describe('[Test now]', () => {
  const answer = (outcome: Outcome) => calls(() => outcome);

  it('calls at once with a key of its own, shows the answer, and makes nothing', async () => {
    const made = answer({ is: 'done', text: 'The price is 7.', httpStatus: 200 });
    const talk = await talkWith({ kind: 'private', made });
    const preview = await talk.ask(`/fetch every day at 9 ${price}`);
    expect((await talk.press(preview, 'Test now')).toast).toBe('Calling…');
    await talk.pipeline.settle();

    expect(made.jobs).toMatchObject([{ attempt: 1, taskId: null }]);
    expect(made.jobs[0]?.outgoingKey).toMatch(/^run:/);
    expect(broughtBy(talk)).toMatchObject([
      { view: 'tested', title: 'api.example.com/price', status: 200, error: null },
      { text: 'The price is 7.' },
    ]);
    expect(await tasksOf(talk)).toEqual([]);
    expect(labels(preview).flat()).toContain('Create');
  });

  it('shows it in a group to whoever pressed alone', async () => {
    const talk = await talkWith({ made: answer({ is: 'done', text: '7' }) });
    await talk.press(await talk.ask(`/fetch every day at 9 ${price}`), 'Test now');
    await talk.pipeline.settle();
    const only = talk.pipeline.database.prepare('select only_for from deliveries where run_id is not null').pluck();
    expect(only.all().map((text): unknown => JSON.parse(String(text)))).toMatchObject([
      { userId: 1001 },
      { userId: 1001 },
    ]);
  });

  it('tells what went wrong, tries nothing again and leaves the preview', async () => {
    const made = answer({ is: 'retry', error: 'the target answered 503', httpStatus: 503 });
    const talk = await talkWith({ kind: 'private', made });
    const preview = await talk.ask(`/fetch every day at 9 ${price}`);
    await talk.press(preview, 'Test now');
    await talk.pipeline.settle();
    await talk.pipeline.pass(60_000);
    expect(made.jobs).toHaveLength(1);
    expect(broughtBy(talk)).toMatchObject([
      { view: 'tested', status: 503, error: 'the target answered 503', isEmpty: true },
    ]);
    expect(labels(preview).flat()).toContain('Create');
  });

  it('asks first where the call may change something', async () => {
    const made = calls();
    const talk = await talkWith({ kind: 'private', made });
    const preview = await talk.ask('/fetch every day at 9 POST https://example.com/hook');
    await talk.press(preview, 'Test now');
    expect(preview.text).toContain('Call it once, now?');
    await talk.press(preview, 'Back');
    expect(made.jobs).toEqual([]);
    await talk.press(preview, 'Test now');
    await talk.press(preview, 'Call it now');
    await talk.pipeline.settle();
    expect(made.jobs).toHaveLength(1);
    expect(labels(preview).flat()).toContain('Create');
  });

  it('does the same press once, however often it arrives', async () => {
    const made = calls();
    const talk = await talkWith({ kind: 'private', made });
    await talk.press(await talk.ask(`/fetch every day at 9 ${price}`), 'Test now');
    await talk.again();
    await talk.pipeline.settle();
    expect(made.jobs).toHaveLength(1);
  });
});

describe('a kind of action that is added to the registry', () => {
  const toy: ActionEntry = {
    form: {
      kind: 'lamp',
      words: {
        name: 'lamp',
        menu: 'Switch a lamp: /lamp every day at 20 kitchen',
        ask: 'Which lamp?',
        tries: ['kitchen'],
        when: 'When should I switch it?',
        examples: [
          ['/lamp every day at 20 kitchen', 'in the evening'],
          ['/lamp in 10 minutes hall', 'once'],
          ['/lamp', 'step by step'],
        ],
        notes: ['It has no effect on the sun.'],
      },
      fields: [{ name: 'lamp', is: 'text', isRequired: true, does: 'Which one.', example: 'kitchen', inBrief: true }],
      text: 'note',
      example: { kind: 'lamp', lamp: 'kitchen' },
      command: {
        name: 'lamp',
        also: ['light'],
        read: (words) => {
          const [, before = '', lamp] = /^(.*?)\b(kitchen|hall)$/i.exec(words) ?? [];
          if (lamp === undefined) return null;
          const spec = { kind: 'lamp', lamp };
          return { before: before.trim(), after: '', spec, assumed: [], with: () => spec };
        },
      },
      brief: ({ lamp }) => `Switch ${String(lamp)}`,
      title: ({ lamp }) => `Lamp ${String(lamp)}`,
    },
    make: () => ({
      kind: 'lamp',
      check: () => [],
      repeatable: () => true,
      preview: () => ({ reaches: ['the fuse box'], costs: [{ kind: 'requests', quantity: 1 }] }),
      run: () => ({ is: 'done', text: 'on' }),
    }),
  };

  it('is made, shown, helped with and run in a chat by its folder alone', async () => {
    const talk = await aTalk({ actions: [...registry, toy], kind: 'private' });
    const preview = await talk.ask('/lamp every day at 20 kitchen');
    expect(preview.text).toContain('New task: Lamp kitchen\nSwitch kitchen\nEvery day at 20:00');
    expect(preview.text).toContain('Reaches the fuse box\nAbout 1 request a day');
    const task = await created(talk, preview);
    await talk.pipeline.pass(day);
    expect(await talk.pipeline.history(task?.id ?? '')).toMatchObject([{ status: 'succeeded' }]);

    expect(await talk.tells('/help lamp')).toContain('/lamp in 10 minutes hall – once');
    expect(await talk.tells('/help lamp')).toContain('It has no effect on the sun.');
    expect(await talk.tells('/help all')).toContain('/lamp');
    expect(await talk.tells('/light')).toContain('/lamp');
  });
});
