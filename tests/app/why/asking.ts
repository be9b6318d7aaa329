import { expect } from 'vitest';
import type { Answer } from '../../../src/app/why/answers.ts';
import type { Task } from '../../../src/domain/task.ts';
import { day, type Pipeline } from '../../support/pipeline.ts';

const nobodyAsks = { at: undefined, from: undefined, to: undefined, after: null, limit: 200 };

/** All answers about one instant. */
export async function askAt(pipeline: Pipeline, task: Pick<Task, 'id'>, at: number): Promise<readonly Answer[]> {
  const asked = await pipeline.rooms.truth.why(task.id, { ...nobodyAsks, at: new Date(at).toISOString() });
  return asked.answers;
}

/** The one answer about an instant. */
export async function why(pipeline: Pipeline, task: Pick<Task, 'id'>, at: number): Promise<Answer> {
  const answers = await askAt(pipeline, task, at);
  expect(answers.map(({ line }) => line)).toHaveLength(1);
  const [answer] = answers;
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

/** Holds what was told to a text that somebody has read. */
export async function expectWords(name: string, ...lines: readonly string[]): Promise<void> {
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`../../../fixtures/why/${name}.txt`);
}

/** What the one answer about each instant says: its two machine words and its line. */
export async function said(pipeline: Pipeline, task: Pick<Task, 'id'>, ...instants: number[]): Promise<string> {
  const lines: string[] = [];
  for (const at of instants) lines.push(told(await why(pipeline, task, at)));
  return lines.join('\n');
}

export function told({ decision, cause, line }: Answer): string {
  expect(line).toMatch(/^[A-Z][^\n]*[^.]\.$/);
  return `${decision}, ${cause}: ${line}`;
}

/** The answers about a stretch of time, page by page. */
export async function story(
  pipeline: Pipeline,
  task: Pick<Task, 'id'>,
  window: { readonly from?: number; readonly to?: number; readonly limit?: number } = {},
): Promise<readonly Answer[]> {
  const to = window.to ?? pipeline.time.now();
  const limit = window.limit ?? 3;
  const question = { from: new Date(window.from ?? to - day).toISOString(), to: new Date(to).toISOString(), limit };
  const answers: Answer[] = [];
  let page = await pipeline.rooms.truth.why(task.id, { ...question, at: undefined, after: null });
  answers.push(...page.answers);
  while (page.next !== null) {
    const after = { ...page.next, from: page.from, to: page.to };
    page = await pipeline.rooms.truth.why(task.id, { ...nobodyAsks, limit, after });
    answers.push(...page.answers);
  }
  return answers;
}
