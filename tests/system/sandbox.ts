import { dirname, join } from 'node:path';
import { readyUrl, start, type Boot, type StartOptions } from './program.ts';
import type { Breach } from './rows.ts';

const waitMs = 20_000;

/** The sandbox in a process of its own: the product takes it for Telegram, and neither minds when the other is gone. */
export async function sandboxAlone(options: StartOptions): Promise<Breach[]> {
  const alone = { ...options, main: join(dirname(options.main), 'sandbox.js') };
  const sandbox = start(alone);
  const url = await readyUrl(sandbox);
  const settings = { TELEGRAM_API_ROOT: `${url}/sandbox` };
  const server = start({ ...options, settings });
  await readyUrl(server);
  const breaches = [...(await greets(url)), ...(await isAlone(alone)), ...(await staysLocal(alone))];
  await server.kill();
  const next = start({ ...options, settings });
  await readyUrl(next);
  breaches.push(...(await greets(url)), ...(await stops(next)), ...(await stops(sandbox)));
  const again = start(alone);
  const transcript = await (await fetch(`${await readyUrl(again)}/sandbox/control/transcript`)).text();
  if (transcript.split('/start').length !== 3)
    breaches.push({ promise: 'the chats outlive a restart', rows: transcript });
  const known = options.telegram.settings['TELEGRAM_BOT_TOKEN'] ?? 'none';
  if (JSON.stringify([sandbox.log, sandbox.errors()]).includes(known))
    breaches.push({ promise: 'a token that was chosen is told nowhere', rows: sandbox.log });
  return [...breaches, ...(await stops(again))];
}

async function greets(url: string): Promise<Breach[]> {
  const response = await fetch(`${url}/sandbox/control/say`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ as: 'ada', chat: 'ada', text: '/start', wait: waitMs }),
  });
  const said = (await response.json()) as { readonly answers?: readonly { readonly from: string }[] };
  return said.answers?.[0]?.from === 'bot' ? [] : [{ promise: 'the product answers in the sandbox', rows: said }];
}

async function isAlone(options: StartOptions): Promise<Breach[]> {
  const second = start(options);
  const { code } = await second.exit;
  const isTold = /sandbox\.db is in use/.test(second.errors());
  return code === 1 && isTold
    ? []
    : [{ promise: 'a second sandbox is refused', rows: { code, told: second.errors() } }];
}

async function staysLocal(options: StartOptions): Promise<Breach[]> {
  const open = start({ ...options, settings: { HTTP_HOST: '0.0.0.0' } });
  const { code } = await open.exit;
  const isTold = open.errors().startsWith('HTTP_HOST ');
  return code === 78 && isTold
    ? []
    : [{ promise: 'the sandbox stays on this computer', rows: { code, told: open.errors() } }];
}

async function stops(boot: Boot): Promise<Breach[]> {
  const { code } = await boot.stop();
  return code === 0 ? [] : [{ promise: 'a stop by SIGTERM ends with code 0', rows: { code, errors: boot.errors() } }];
}
