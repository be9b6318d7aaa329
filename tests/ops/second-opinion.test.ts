import { expect, it } from 'vitest';
import { aFolder } from '../support/place.ts';
import { childrenOf, startProgram } from './program.ts';

const token = 'the-token-of-the-tests';
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

it('comes with a new schedule, may be killed without any harm, and goes with the server', async ({
  onTestFinished: atEnd,
}) => {
  const program = startProgram(aFolder(atEnd), { DATABASE_URL: 'file:c.db', API_TOKEN: token }, atEnd);
  const url = await program.url();
  const create = async (cron: string) => {
    const body = { instructions: 'Hello', schedule: { kind: 'cron', cron, timezone: 'Europe/Madrid' } };
    const asked = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await fetch(`${url}/v1/threads/cli:default/tasks`, asked)).status;
  };
  const counted = async (result: string) => {
    const page = await (await fetch(`${url}/metrics`, { headers })).text();
    const line = new RegExp(`^cronogram_second_opinions_total\\{schedule="cron",result="${result}"\\} (\\d+)$`, 'm');
    return Number(line.exec(page)?.[1] ?? 0);
  };

  expect(childrenOf(program.pid)).toEqual([]);
  expect(await counted('differs')).toBe(0);
  expect(await create('0 9 * * 1-5')).toBe(201);
  await expect.poll(() => childrenOf(program.pid)).toHaveLength(1);
  // Late on a busy machine is no opinion, and asked for no more until the night; so is a question that meets a child which was just killed.
  const asked = async () => (await counted('agrees')) + (await counted('timeout')) + (await counted('died'));
  await expect.poll(asked).toBe(1);

  for (const pid of childrenOf(program.pid)) process.kill(pid, 'SIGKILL');
  await expect.poll(() => childrenOf(program.pid)).toEqual([]);
  expect(await create('30 9 * * 1-5')).toBe(201);
  await expect.poll(asked).toBe(2);
  expect(await counted('differs')).toBe(0);

  program.kill('SIGTERM');
  expect(await program.ended).toBe(0);
  expect(childrenOf(program.pid)).toEqual([]);
});
