import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { parseThreadKey } from '../../src/domain/thread.ts';
import { openVault } from '../../src/system/vault.ts';
import { startProgram } from '../ops/program.ts';
import { aFolder, type AtEnd } from '../support/place.ts';
import { openedAt } from './place.ts';

const token = 'the-token-of-the-tests';
const count = 250;

/** Secrets of three chats, more than two steps of a rotation seal. */
async function withSecrets(folder: string): Promise<void> {
  const opened = await openedAt(join(folder, 'c.db'), 0);
  const vault = openVault({ file: join(folder, 'secrets-key'), given: [] });
  vault.allowFirst();
  for (let number = 0; number < count; number += 1) {
    const id = `secret-${String(number).padStart(3, '0')}`;
    const place = parseThreadKey(`telegram:chat:-${1 + Math.floor(number / 100)}`);
    const put = { place, newChatId: `chat-${number}`, name: `KEY_${number}`, id, by: 'system', at: number } as const;
    await opened.store.putSecret({ ...put, sealed: vault.seal(id, `value of ${id}`) });
  }
  await opened.close();
}

/** The keys that there are, how many secrets are under each, and whether all of them open. */
function standing(folder: string) {
  const file = join(folder, 'secrets-key');
  const vault = openVault({ file, given: [] });
  const database = new Database(join(folder, 'c.db'), { readonly: true });
  const rows = database.prepare('select id, key_id as keyId, box from secrets').all();
  database.close();
  const secrets = rows as { id: string; keyId: string; box: string }[];
  const lost = secrets.filter((one) => vault.open(one.id, one) !== `value of ${one.id}`).length;
  const [first = ''] = vault.ids();
  const underFirst = secrets.filter(({ keyId }) => keyId === first).length;
  return { keys: readFileSync(file, 'utf8').trim().split('\n'), all: secrets.length, lost, underFirst };
}

type Step = (after?: string) => Promise<{ readonly next: string | null }>;

/** Does this on a server of its own, and kills it as soon as that is done. */
async function killedAfter(folder: string, atEnd: AtEnd, does: (step: Step) => Promise<void>): Promise<void> {
  const program = startProgram(folder, { DATABASE_URL: 'file:c.db', API_TOKEN: token }, atEnd);
  const url = await program.url();
  await does(async (after) => {
    const query = after === undefined ? '' : `?after=${after}`;
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${url}/v1/rotate-secrets${query}`, { method: 'POST', headers });
    expect(answer.status).toBe(200);
    return (await answer.json()) as { next: string | null };
  });
  program.kill('SIGKILL');
  await program.ended;
}

/** Asked for, and cut off by a kill. */
const begin = (asked: Promise<unknown>) => void asked.catch(() => {});

it('a rotation that is killed at any point loses nothing, and goes on where it was', async ({ onTestFinished }) => {
  const folder = aFolder(onTestFinished);
  await withSecrets(folder);
  const keys = () => readFileSync(join(folder, 'secrets-key'), 'utf8').trim().split('\n');
  const [before] = keys();
  const whole = { all: count, lost: 0 };

  // The new key is there, and hardly anything is under it.
  await killedAfter(folder, onTestFinished, async (step) => {
    begin(step());
    while (keys().length < 2) await new Promise(setImmediate);
  });
  const begun = keys();
  expect(begun).toEqual([expect.any(String), before]);
  expect(standing(folder)).toMatchObject({ ...whole, keys: begun });

  // One step is done, and the next one is under way.
  await killedAfter(folder, onTestFinished, async (step) => {
    const { next } = await step();
    begin(step(next ?? ''));
  });
  const halfway = standing(folder);
  expect(halfway).toMatchObject({ ...whole, keys: begun });
  expect(halfway.underFirst).toBeGreaterThanOrEqual(100);

  await killedAfter(folder, onTestFinished, async (step) => {
    for (let after: string | null | undefined; after !== null;) after = (await step(after)).next;
  });
  expect(standing(folder)).toEqual({ ...whole, underFirst: count, keys: begun.slice(0, 1) });
});
