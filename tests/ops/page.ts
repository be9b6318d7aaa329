import type { Bot } from '../e2e/bot.ts';
import { bearer } from '../support/server.ts';

export async function pageOf(url: string): Promise<{ readonly answer: Response; readonly text: string }> {
  const answer = await fetch(`${url}/metrics`, { headers: bearer });
  return { answer, text: await answer.text() };
}

/** Every sample of the page by its name with its labels. */
export async function metricsOf(url: string): Promise<ReadonlyMap<string, number>> {
  return samplesIn((await pageOf(url)).text);
}

function samplesIn(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

export function labelsIn(text: string): readonly (readonly [string, string])[] {
  return [...samplesIn(text).keys()].flatMap((name) =>
    [...name.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value] as const),
  );
}

/** Answers the id of the task. */
export async function createTask(
  { server }: Pick<Bot, 'server'>,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const answer = await fetch(`${server.url}/v1/threads/cli:default/tasks`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const { task, error } = (await answer.json()) as { task?: { task_id: string }; error?: object };
  if (task === undefined) throw new Error(`The task was refused: ${JSON.stringify(error)}`);
  return task.task_id;
}
