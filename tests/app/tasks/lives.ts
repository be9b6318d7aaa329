import { expect, it } from 'vitest';
import type { MissedAnswer } from '../../../src/app/ports/questions.ts';
import type { TaskInput } from '../../../src/app/tasks/definition.ts';
import { minute, start, type Pipeline, withTask } from '../../support/pipeline.ts';
import { delay, failing, find, hourly, long, newsOf, once, slow, story, target } from './world.ts';

/**
 * The life of a task, a line for each: a sentence, what the task is given, its life in words, and how it stands in the end.
 * All numbers are minutes from the start. `+60` lets time pass, `~60` too while nobody looks, `@90` names an instant, `=`
 * says that a verb changes nothing, `!code` that it is refused. The end names the slots of its story, and what it has.
 */
interface Life {
  readonly sentence: string;
  readonly input: Partial<TaskInput>;
  readonly life: string;
  /** Null where the story is of no matter. */
  readonly slots: readonly string[] | null;
  readonly facts: Readonly<Record<string, string | number | null>>;
}

const livesIn = (table: string): readonly Life[] => table.trim().split('\n').map(lifeOf);

function lifeOf(line: string): Life {
  const [sentence = '', given = '', life = '', end = ''] = line.split('|').map((cell) => cell.trim());
  const words = end.split(', ').filter((word) => word !== '');
  const slots = words.filter((word) => /^\d|^nothing$/.test(word));
  const facts = words.filter((word) => !slots.includes(word)).map((word) => word.split(' ') as [string, string]);
  return {
    sentence,
    input: inputOf(given),
    life,
    slots: slots.length === 0 ? null : slots.filter((word) => word !== 'nothing'),
    facts: Object.fromEntries(facts.map(([name, value]) => [name, valueOf(value)])),
  };
}

function valueOf(word: string): string | number | null {
  return word === '-' ? null : /^\d+$/.test(word) ? Number(word) : word;
}

const givens: Readonly<Record<string, (value: string) => Partial<TaskInput>>> = {
  once: (hours) => ({ schedule: once(Number(hours)) }),
  delay: () => ({ schedule: delay }),
  minutely: () => ({ schedule: { kind: 'interval', interval: 'PT1M', timezone: 'UTC' } }),
  echoing: () => ({ action: { kind: 'echo', delay_ms: 10_000 } }),
  lasting: (seconds) => ({ action: { kind: 'echo', fail_attempts: 1 }, policies: { retry: triedAfter(seconds) } }),
  slow: () => ({ action: slow, policies: long }),
  failing: () => ({ action: failing }),
  title: (title) => ({ title }),
};

const triedAfter = (seconds: string) => ({ attempts: 2, base: `PT${seconds}S`, cap: `PT${seconds}S`, jitter: 0 });

/** A word that is none of these is a policy. */
function inputOf(given: string): Partial<TaskInput> {
  let input: Partial<TaskInput> = {};
  for (const [name = '', value = ''] of given.split(', ').map((word) => word.split(' '))) {
    if (name === '') continue;
    const more = givens[name]?.(value) ?? { policies: { [name]: valueOf(value) } };
    input = { ...input, ...more, policies: { ...input.policies, ...more.policies } };
  }
  return input;
}

type Verb = (p: Pipeline, taskId: string, given: readonly string[]) => Promise<unknown>;

const at = (word: string) => start + Number(word.slice(1)) * minute;
const instant = (word: string | undefined) => (word === undefined ? null : at(word));

const verbs: Readonly<Record<string, Verb>> = {
  skip: (p, id, [count = '1', from]) =>
    p.rooms.tasks.skip(target({ id }), { count: Number(count), from: instant(from) }),
  unskip: (p, id) => p.rooms.tasks.unskip(target({ id })),
  pause: (p, id, [until]) => p.rooms.tasks.pause(target({ id }), instant(until)),
  resume: (p, id) => p.rooms.tasks.resume(target({ id })),
  delete: (p, id) => p.rooms.tasks.delete(target({ id })),
  restore: (p, id) => p.rooms.tasks.restore(target({ id })),
  snooze: (p, id, [until = '']) => p.rooms.tasks.snooze(target({ id }), at(until)),
  undo: (p, id) => p.rooms.tasks.undo(target({ id }), null),
  run: (p, id) => p.rooms.tasks.runNow(target({ id })),
  on: (p, id) => p.rooms.tasks.edit(target({ id }), { enabled: true }),
  off: (p, id) => p.rooms.tasks.edit(target({ id }), { enabled: false }),
  title: (p, id, [title = '']) => p.rooms.tasks.edit(target({ id }), { title }),
  cron: (p, id, [minutes = '']) =>
    p.rooms.tasks.edit(target({ id }), { schedule: { ...hourly, cron: `${minutes} * * * *` } }),
  once: (p, id, [hours = '']) => p.rooms.tasks.edit(target({ id }), { schedule: once(Number(hours)) }),
  action: (p, id, [kind = '']) => p.rooms.tasks.edit(target({ id }), { action: { kind } }),
  limit: (p, id, [runs = '']) =>
    p.rooms.tasks.edit(target({ id }), { policies: { max_runs: valueOf(runs) as number } }),
  allow: (p, id) => p.rooms.tasks.edit(target({ id }), { policies: { overlap: 'allow' } }),
  cancel: (p, id) => p.rooms.tasks.cancel(target({ id })),
  answer: (p, id, [choice = '']) => p.rooms.tasks.answer(target({ id }), choice as MissedAnswer),
  retry: (p, id) => repeated(p, id, 'retry'),
  replay: (p, id) => repeated(p, id, 'replay'),
  step: (p) => p.rooms.scheduler.step(p.time.now(), 10),
  replan: (p) => p.rooms.scheduler.replan(p.time.now(), 10),
  runner: (p) => p.rooms.runner.step(p.time.now(), 100),
  settle: (p) => p.settle(),
};

/** Does the first run of the task again. */
async function repeated(p: Pipeline, id: string, kind: 'retry' | 'replay'): Promise<unknown> {
  const [first] = await p.history(id);
  return p.rooms.tasks.repeat(kind, first?.runId ?? '', target({ id }));
}

async function lived(p: Pipeline, taskId: string, life: string): Promise<void> {
  for (const step of life.split(', ')) {
    const [word = '', ...given] = step.split(' ');
    const fate = /^[=!]/.test(given.at(-1) ?? '') ? given.pop() : undefined;
    const deed = async () => {
      if (word.startsWith('+')) return p.pass(Number(word.slice(1)) * minute);
      if (word.startsWith('~')) return p.time.advance(Number(word.slice(1)) * minute);
      const verb = verbs[word];
      if (verb === undefined) throw new Error(`there is no verb ${word}`);
      return verb(p, taskId, given);
    };
    const news = await newsOf(p, async () => {
      if (fate?.startsWith('!') === true) await expect(deed(), step).rejects.toMatchObject({ code: fate.slice(1) });
      else await deed();
    });
    if (fate !== undefined) expect([news.verbs, news.events], step).toEqual([[], []]);
  }
}

const minutesOf = (instantMs: number | null) => (instantMs === null ? null : Math.round((instantMs - start) / minute));

/** Each life of a subject is one test. */
export function tellLives(subject: string, table: string): void {
  const lives = livesIn(table).map((life) => [subject, life.sentence, life] as const);
  it.each(lives)('%s %s', async (_subject, _sentence, { input, life, slots, facts }) => {
    const { p, task } = await withTask({ schedule: hourly, ...input });
    await lived(p, task.id, life);
    const { state, nextAt, resumeAt, title } = await find(p, task);
    expect({ state, next: minutesOf(nextAt), until: minutesOf(resumeAt), title }).toMatchObject(facts);
    if (slots !== null) expect(await story(p, task)).toEqual(slots);
  });
}
