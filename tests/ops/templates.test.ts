import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { aFolder } from '../support/place.ts';
import { childrenOf, startProgram } from './program.ts';

const token = 'the-token-of-the-tests';
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

const doubling = (body: string) =>
  `{% assign a = "xxxxxxxxxxxxxxxx" %}{% for i in (1..40) %}${body}{% endfor %}{{ a }}`;
/** Behind a condition that does not hold where nothing is known yet, or creation would refuse them. */
const bombs = [
  doubling('{% capture a %}{{ a }}{{ a }}{% endcapture %}'),
  doubling('{% assign a = a | append: a %}'),
  `{% for i in (1..900000) %}${'x'.repeat(200)}{% endfor %}`,
  '{% for i in (1..900) %}{% for j in (1..900) %}{% assign x = j %}{% endfor %}{% endfor %}',
  '{{ "now" | date: "%999999999d" }}',
].map((bomb) => `{% if context.armed %}${bomb}{% endif %}`);

function residentMb(pid: number): number {
  const [, kb = '0'] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}

/** The time that its own threads have spent, whatever the machine does beside them; children are not counted. */
function cpuSeconds(pid: number): number {
  const [, fields = ''] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  const [user, system] = fields.split(' ').slice(11, 13).map(Number);
  // The unit is the same on every Linux.
  return ((user ?? 0) + (system ?? 0)) / 100;
}

it('renders fifty bombs at once in other processes, and stays light and quick', async ({ onTestFinished: atEnd }) => {
  const program = startProgram(aFolder(atEnd), { DATABASE_URL: 'file:c.db', API_TOKEN: token }, atEnd);
  const url = await program.url();
  const ask = async (method: string, path: string, body: object | null = null): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    expect([200, 201, 202]).toContain(answer.status);
    return (await answer.json()) as Record<string, unknown>;
  };
  const create = async (index: number, instructions: string) => {
    const schedule = { kind: 'cron', cron: '0 9 1 1 *', timezone: 'UTC' };
    const body = { title: `task ${index}`, instructions, schedule, context: { armed: true } };
    const { task } = (await ask('POST', '/v1/threads/cli:default/tasks', body)) as { task: { task_id: string } };
    return task.task_id;
  };
  const statusOf = async (id: string) => {
    const answer = (await ask('GET', `/v1/tasks/${id}/runs`)) as { task_runs: readonly { status: string }[] };
    return answer.task_runs[0]?.status;
  };
  const ids: string[] = [];
  for (let index = 0; index < 50; index += 1) ids.push(await create(index, bombs[index % bombs.length] ?? ''));
  const plain = await create(50, 'Stand up!');
  const before = { mb: residentMb(program.pid), cpu: cpuSeconds(program.pid) };

  await Promise.all(ids.map((id) => ask('POST', `/v1/tasks/${id}/run-now`)));
  await ask('POST', `/v1/tasks/${plain}/run-now`);
  await expect.poll(() => statusOf(plain)).toBe('succeeded');
  expect(childrenOf(program.pid).length).toBeLessThanOrEqual(2);
  // One after the other: those that are beyond what one person may use are tried again later.
  const ended = async () => (await Promise.all(ids.map(statusOf))).filter((status) => status === 'failed').length;
  await expect.poll(ended).toBeGreaterThan(0);

  // One of them took 1.3 GB, and fifty loops held up the whole server for eight seconds.
  expect(residentMb(program.pid) - before.mb).toBeLessThan(100);
  expect(cpuSeconds(program.pid) - before.cpu).toBeLessThan(4);
});
