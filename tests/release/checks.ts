import { setTimeout as pause } from 'node:timers/promises';

const waitMs = 20_000;
let [passed, failed] = [0, 0];

export function check(what: string, isSo: boolean, found: unknown = ''): void {
  if (isSo) passed += 1;
  else failed += 1;
  console.log(`${isSo ? 'ok  ' : 'FAIL'} ${what}${isSo ? '' : `: ${JSON.stringify(found)}`}`);
}

/** The last line, and the exit code. */
export function tellChecks(): void {
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

/** A request to the server that is checked: a POST where there is a body. Throws on an answer that is not 2xx. */
export type Ask = (path: string, body?: object) => Promise<string>;

const isThere = (transcript: string) => /\[[^\]]*> say hello[^\]]*\] \S+: say hello 2/i.test(transcript);

export async function isDelivered(ask: Ask): Promise<boolean> {
  return isThere(await ask('/sandbox/control/transcript'));
}

/** Makes a task in the sandbox, moves its clock to the next run, and waits for the result in the topic of the task. */
export async function deliver(ask: Ask, claim: string): Promise<void> {
  const control = (verb: string, body: object) => ask(`/sandbox/control/${verb}`, body);
  const ada = { as: 'ada', chat: 'ada', wait: waitMs };
  await control('say', { ...ada, text: `/start ${claim}` });
  await control('say', { ...ada, text: '/new in 1 minute say hello {{ 1 | plus: 1 }}' });
  await control('press', { ...ada, button: 'Create' });
  await control('jump', { to: 'next' });
  const until = performance.now() + waitMs;
  while (!(await isDelivered(ask)) && performance.now() < until) await pause(100);
  const told = await ask('/sandbox/control/transcript');
  check('a task is delivered in its own topic, rendered in a child', isThere(told), told);
}
