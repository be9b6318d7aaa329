import { describe, expect, it, onTestFinished } from 'vitest';
import { systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import { difference } from '../../src/system/expressions/difference.ts';
import { createExpressions } from '../../src/system/expressions/expressions.ts';
import { select } from '../../src/system/expressions/jsonata.ts';
import { createPool, type Pool } from '../../src/system/pool/pool.ts';
import { memoryLog } from '../support/fakes.ts';

const ada = 'telegram:user:1001';
const selected = (expression: string, input: unknown) => select({ expression, input: JSON.stringify(input) });

describe('an expression', () => {
  it.each([
    ['price', { price: 7 }, 7],
    [
      'items[price < 10].name',
      {
        items: [
          { name: 'a', price: 9 },
          { name: 'b', price: 11 },
        ],
      },
      'a',
    ],
    ['$sum(items.price)', { items: [{ price: 1 }, { price: 2 }] }, 3],
    ['{"n": $count(items)}', { items: [1, 2] }, { n: 2 }],
    ['$', [1, 2], [1, 2]],
    ['$uppercase($)', 'text', 'TEXT'],
    ['$match($, /\\d+/).match', 'a 17 b', '17'],
  ])('chooses %s', (expression, input, value) => {
    expect(selected(expression, input)).toEqual({ value });
  });

  it.each(['missing', 'a.b[7]', 'process.exit(1)'])('that finds nothing chooses nothing: %s', (expression) => {
    expect(selected(expression, { a: 1 })).toEqual({});
  });

  it.each([
    ['price[', /Expected/],
    ['$nothing()', /non-function/],
    ['$number("x")', /cast/i],
    ['function($x){$x}', /chooses a function/],
    ['$sum', /chooses a function/],
    ['a.constructor("return 1")()', /non-function/],
  ])('that cannot be carried out has a fault and harms nobody: %s', (expression, fault) => {
    expect(selected(expression, { a: {} })).toEqual(
      expect.objectContaining({ fault: expect.stringMatching(fault) as string }),
    );
  });

  it.each([
    ['a loop without an end', '($f := function($x){$f($x + 1)}; $f(0))', /Evaluation timeout|takes more than/],
    ['a deep recursion', '($f := function($x){1 + $f($x + 1)}; $f(0))', /[Ss]tack|depth/],
    ['a long sequence', '[1..20001]', /maximum sequence length/],
    ['a product of sequences', '[1..9999].[1..9999]', /maximum sequence length|takes more than|timeout/],
    ['a regular expression that hangs', '$match($, /(a+)+$/)', /takes more than/],
    ['a value that is too long', '$pad("x", 300000)', /more than 262144 characters/],
  ])('is bounded: %s', (_what, expression, fault) => {
    const began = performance.now();
    const answer = selected(expression, `${'a'.repeat(40)}!`);
    expect(answer).toEqual(expect.objectContaining({ fault: expect.stringMatching(fault) as string }));
    expect(performance.now() - began).toBeLessThan(5000);
    expect(selected('price', { price: 7 })).toEqual({ value: 7 });
  });

  it('changes nothing for those after it', () => {
    selected('$ ~> |$|{"__proto__": {"x": 1}, "constructor": 7}|', {});
    expect(selected('x', {})).toEqual({});
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});

describe('a difference', () => {
  const lines = (count: number, word: string) => Array.from({ length: count }, (_, n) => `${word} ${n}`).join('\n');

  it('shows the lines that are gone and that are new, with one around them', () => {
    const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].join('\n');
    const after = ['a', 'b', 'c', 'D', 'e', 'f', 'g', 'h', 'i'].join('\n');
    expect(difference({ before, after }).text).toBe(['  c', '- d', '+ D', '  e', '…', '  h', '+ i'].join('\n'));
  });

  it('of two short values is a line', () => {
    expect(difference({ before: '41', after: '42' })).toEqual({ text: '41 → 42' });
    expect(difference({ before: '', after: '42' })).toEqual({ text: '+ 42' });
  });

  it('does not show what nobody sees', () => {
    expect(difference({ before: 'a\r\nb  \r\nc', after: 'a\nb\nd\n' }).text).toBe('  b\n- c\n+ d');
    expect(difference({ before: 'a\nb', after: 'a \nb' }).text).toContain('spaces at the ends of lines alone');
  });

  it('is bounded in what it shows', () => {
    const { text } = difference({ before: '', after: `${lines(100, 'new')}\n${'x'.repeat(1000)}` });
    expect(text?.split('\n')).toHaveLength(61);
    expect(text).toContain('… and 41 more lines');
    const wide = difference({ before: 'a\nb', after: 'x'.repeat(1000) }).text ?? '';
    expect(Math.max(...wide.split('\n').map((line) => line.length))).toBe(300);
  });

  it('of two texts of 3,000 different lines costs little and is not told', () => {
    const began = process.cpuUsage();
    expect(difference({ before: lines(3000, 'old'), after: lines(3000, 'new') })).toEqual({ text: null });
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(400);
  });
});

describe('what becomes of it', () => {
  const answering = (worked: unknown) => createExpressions((async () => worked) as Pool['run']);

  it.each([
    [{ is: 'away' }, { is: 'retry', isFree: true }],
    [
      { is: 'spent', afterMs: 700 },
      { is: 'retry', isFree: true, afterMs: 700 },
    ],
    [{ is: 'late' }, { is: 'retry', isFree: true }],
    [{ is: 'lost' }, { is: 'retry', isFree: true }],
    [{ is: 'died' }, { is: 'giveUp', isHarmful: true }],
    [
      { is: 'done', answer: { fault: 'bad' } },
      { is: 'giveUp', fault: 'bad' },
    ],
    [
      { is: 'done', answer: {} },
      { is: 'done', value: null },
    ],
  ])('when its work is %j', async (worked, outcome) => {
    expect(await answering(worked).select('a', ada, {})).toMatchObject(outcome);
  });

  it.each([
    [{ is: 'died' }, 'invalid_action'],
    [{ is: 'late' }, 'invalid_action'],
    [{ is: 'done', answer: { fault: 'bad', position: 3 } }, 'invalid_action'],
    [{ is: 'spent', afterMs: 700 }, 'quota_exceeded'],
    [{ is: 'away' }, 'quota_exceeded'],
  ])('at its creation, when its work is %j', async (worked, code) => {
    const check = answering(worked).check({ field: 'action.select', text: 'a[' }, ada);
    await expect(check).rejects.toMatchObject({ code, details: { field: 'action.select' } });
  });

  it('tells no difference that is not known in time', async () => {
    expect(await answering({ is: 'late' }).difference('a', 'b', ada)).toBeNull();
  });

  it('is evaluated in a child', async () => {
    const pool = createPool({ timer: systemTimer, stopwatch: systemStopwatch, log: memoryLog() });
    onTestFinished(() => pool.close());
    const expressions = createExpressions(pool.run);
    const value = async () => expressions.select('a.b', ada, { a: { b: [1, 2] } });
    await expect.poll(value).toEqual({ is: 'done', value: [1, 2] });
    const told = async () => expressions.difference('a\nb', 'a\nc', ada);
    await expect.poll(told).toBe('  a\n- b\n+ c');
    await expect(expressions.check({ field: 'action.select', text: 'a[' }, ada)).rejects.toThrow(
      'action.select cannot be read as JSONata',
    );
  });
});
