import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { messageAction } from '../../src/app/actions/message.ts';
import * as limits from '../../src/domain/limits.ts';
import { systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import type { TemplateAnswer } from '../../src/system/pool/child.ts';
import { createPool, type Worked } from '../../src/system/pool/pool.ts';
import { createTemplates } from '../../src/system/templates/templates.ts';
import { memoryLog, promptTemplates } from '../support/fakes.ts';

const ada = 'telegram:user:1001';

describe('a template', () => {
  const templates = promptTemplates();
  const tried = async (text: string) => {
    const written = messageAction(templates, async () => null).check({ kind: 'message' }, text);
    for (const one of written) await templates.check(one, ada);
  };
  const madeOf = (text: string, variables = {}) => templates.render(text, ada, variables);

  it('fills in variables, with filters and conditions', async () => {
    const text = '{% if n > 1 %}{{ name | upcase }}{% endif %}, {{ missing | default: "?" }}';
    expect(await madeOf(text, { n: 2, name: 'ada' })).toEqual({ is: 'done', text: 'ADA, ?' });
    const asked = '{% if context.x %}yes{% else %}no{% endif %} {% unless context.y %}none{% endunless %}';
    expect(await madeOf(asked, { context: {} })).toEqual({ is: 'done', text: 'no none' });
    expect(await madeOf('{{ missing }}')).toMatchObject({
      is: 'giveUp',
      error: expect.stringContaining('unknown variable: missing') as string,
    });
  });

  it.each([
    '{{ nobody }}',
    '{{ nobody | default: "-" }}',
    '{% if nobody %}a{% endif %}',
    '{% unless task.owner %}a{% endunless %}',
    '{% for one in nobody %}a{% endfor %}',
    '{{ task.owner }}',
    '{{ last.nothing }}',
    '{% if task.id %}{{ run.nothing }}{% endif %}',
    '{{ a',
    '{% if %}',
    '{% nonsense %}',
    '{{ a | nofilter }}',
    '{% for x in %}{% endfor %}',
  ])('%j is refused with a way out', async (text) => {
    await expect(tried(text)).rejects.toThrow(/action\.plain/);
  });

  it.each([
    'Seen {{ context.seen }} of {{ context.list | size }}',
    '{% for one in context.list %}{{ one.name }} {{ forloop.index }}{% endfor %}{% assign a = 1 %}{{ a }}{{ task.title.size }}',
    '{{ task.id }} {{ task.tz }} {{ run.number }} {{ run.slot }} {{ run.source }} {{ run.attempt }}',
    '{{ last.text | default: "nothing yet" }} {{ last.data.x }} {{ last.at }} {{ last.outcome }} {{ last.number }}',
  ])('%j is taken, as a run may have what it names', async (text) => {
    await tried(text);
  });

  it('does not take a value for a template, and writes lists and objects as JSON and nothing as nothing', async () => {
    expect(await madeOf('{{ a }}{{ b }}{{ c }}', { a: '{{ b }}', b: [1, [2, { x: 'y' }]], c: null })).toEqual({
      is: 'done',
      text: '{{ b }}[1,[2,{"x":"y"}]]',
    });
    expect(await madeOf('{{ b | join: "-" }} {{ b[1] | append: "!" }}', { b: [1, { x: 'y' }] })).toEqual({
      is: 'done',
      text: '1-{"x":"y"} {"x":"y"}!',
    });
  });

  const doubling = (body: string) =>
    `{% assign a = "xxxxxxxxxxxxxxxx" %}{% for i in (1..40) %}${body}{% endfor %}{{ a }}`;
  const kilo = 'x'.repeat(1024);
  const lists = 'abcdefg';
  it.each([
    ['no prototypes', '{{ a.constructor.name }}', /unknown variable/],
    ['no files', '{% include "x" %}', /Failed to lookup/],
    ['a bounded range', '{% for i in (1..100000000) %}x{% endfor %}', /memory alloc limit/],
    ['a bounded width', '{{ "now" | date: "%999999999d" }}', /memory alloc limit/],
    ['bounded filters', doubling('{% assign a = a | append: a %}'), /memory alloc limit/],
    ['a bounded capture', doubling('{% capture a %}{{ a }}{{ a }}{% endcapture %}'), /more than 65536 characters/],
    ['bounded output', `{% for i in (1..66) %}${kilo}{% endfor %}`, /more than 65536 characters/],
    ['bounded text', '{{ a }}'.repeat(20_000), /parse length limit/],
    ['bounded depth', `${'{% if true %}'.repeat(60)}x${'{% endif %}'.repeat(60)}`, /nested deeper than 50/],
    [
      'bounded steps',
      `{% assign l = "1,2,3,4,5,6,7,8" | split: "," %}${[...lists].map((name) => `{% for ${name} in l %}`).join('')}${'{% endfor %}'.repeat(lists.length)}`,
      /more than 100000 steps|render limit/,
    ],
  ])('has %s', async (_name, text, error) => {
    expect(await madeOf(text, { a: {} })).toMatchObject({
      is: 'giveUp',
      error: expect.stringMatching(error) as string,
    });
  });

  it('is not blamed for time that the machine spent on others', async () => {
    const real = performance.now.bind(performance);
    let stoodStillMs = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => real() + (stoodStillMs += stills.shift() ?? 0));
    // The clock is read as the evaluation begins, as the library begins, and late at its first step.
    const stills = [0, 0, 500];
    onTestFinished(() => clock.mockRestore());
    expect(await madeOf('{% for i in (1..3) %}{{ i }}{% endfor %}')).toEqual({ is: 'done', text: '123' });
    expect(stills).toEqual([]);
  });

  it('holds as much as a result may', async () => {
    expect(await madeOf(`{% for i in (1..64) %}${kilo}{% endfor %}`)).toEqual({
      is: 'done',
      text: 'x'.repeat(limits.renderedLengthMax),
    });
  });
});

describe('what becomes of it', () => {
  const answering = (...all: readonly Worked<TemplateAnswer>[]) => {
    const left = [...all];
    return createTemplates(async () => left.shift() ?? { is: 'away' });
  };

  it.each([
    [{ is: 'away' }, { is: 'retry' }],
    [
      { is: 'spent', afterMs: 700 },
      { is: 'retry', afterMs: 700 },
    ],
    [{ is: 'late' }, { is: 'retry' }],
    [{ is: 'lost' }, { is: 'retry' }],
    [{ is: 'died' }, { is: 'giveUp', isHarmful: true }],
  ] as const)('when its work is %j', async (worked, outcome) => {
    expect(await answering(worked).render('{{ a }}', ada, {})).toMatchObject(outcome);
  });

  it('is harmful when it is late again and again, and not when it was right in between', async () => {
    const late = { is: 'late' } as const;
    const templates = answering(late, late, { is: 'done', answer: { text: 'x' } }, late, late, late, late);
    const outcomes: string[] = [];
    for (let turn = 0; turn < 7; turn += 1) {
      const made = await templates.render('{{ a }}', ada, {});
      outcomes.push('isHarmful' in made ? 'harmful' : made.is);
    }
    expect(outcomes).toEqual(['retry', 'retry', 'done', 'retry', 'retry', 'harmful', 'retry']);
  });

  it.each([
    [{ is: 'died' }, 'invalid_template'],
    [{ is: 'late' }, 'invalid_template'],
    [{ is: 'spent', afterMs: 700 }, 'quota_exceeded'],
    [{ is: 'away' }, 'quota_exceeded'],
  ] as const)('at its creation, when its work is %j', async (worked, code) => {
    const written = { field: 'instructions', text: '{{ a }}', variables: {} };
    await expect(answering(worked).check(written, ada)).rejects.toMatchObject({ code });
  });

  it('in a setting of an action names that setting', async () => {
    const written = { field: 'action.url', text: '{{ a }}', variables: {} };
    await expect(promptTemplates().check(written, ada)).rejects.toMatchObject({
      code: 'invalid_action',
      details: { field: 'action.url', fault: 'unknown variable: a' },
    });
  });
});

it('shows times on the clocks of the server, from a child that has no environment', async () => {
  const zone = process.env['TZ'];
  onTestFinished(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });
  process.env['TZ'] = 'Asia/Kathmandu';
  const pool = createPool({ timer: systemTimer, stopwatch: systemStopwatch, log: memoryLog() });
  onTestFinished(() => pool.close());
  const templates = createTemplates(pool.run);
  const text = '{{ "2026-12-24 18:00" | date: "%H:%M" }} {{ at | date: "%H:%M %z" }}';
  const made = () => templates.render(text, ada, { at: '2026-11-19T00:00:00.000Z' });
  // On a busy machine it may be late.
  await expect.poll(made).toEqual({ is: 'done', text: '18:00 05:45 +0545' });
});
