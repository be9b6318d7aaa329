import { chmodSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { openVault, sourceFor } from '../../src/system/vault.ts';
import { countingIds } from '../support/fakes.ts';
import { aPlace, expectFinding } from './doctor-place.ts';
import { openedAt } from './place.ts';

/** A database with secrets that a key in a file beside it has sealed. */
async function withSecrets(count = 2) {
  const place = await aPlace();
  const opened = await openedAt(place.database, 1);
  const vault = openVault(sourceFor(place.database));
  vault.allowFirst();
  const ids = countingIds('secret');
  for (let number = 0; number < count; number += 1) {
    const id = ids.next();
    const put = { place: null, newChatId: ids.next(), name: `KEY_${number}`, id, by: 'system', at: number } as const;
    await opened.store.putSecret({ ...put, sealed: vault.seal(id, `value ${number}`) });
  }
  await opened.close();
  const file = join(dirname(place.database), 'secrets-key');
  const finding = async () => (await place.look('--offline')).found('secrets_key')[0];
  return { ...place, file, vault, finding };
}

it('doctor tells that a key opens all that is sealed, and changes nothing', async () => {
  const { finding, file } = await withSecrets();
  const before = readFileSync(file, 'utf8');
  expectFinding(await finding(), 'ok', 'opens 2 secrets');
  expect(readFileSync(file, 'utf8')).toBe(before);
});

it('doctor tells that the key file is missing, or holds another key, and how to go on', async () => {
  const { finding, file } = await withSecrets();
  renameSync(file, `${file}.away`);
  const missing = await finding();
  expectFinding(missing, 'fail', '2 secrets cannot be opened, and runs that need one fail. Its key is missing.');
  expect(missing?.fix).toContain(`Put ${file} back, or set SECRETS_KEY to that key.`);
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, `${'ab'.repeat(32)}\n`, { mode: 0o600 });
  expectFinding(await finding(), 'fail', 'They were sealed with another key');
  writeFileSync(file, 'no key\n');
  expectFinding(await finding(), 'fail', 'holds something that is no key');
});

it('doctor tells that others can read the key, and leaves that to the operator', async () => {
  const { finding, file } = await withSecrets();
  chmodSync(file, 0o644);
  const open = await finding();
  expectFinding(open, 'warn', `Others can read ${file}.`);
  expect([open?.fix, statSync(file).mode & 0o777]).toEqual([`chmod 600 ${file}`, 0o644]);
});

it('doctor tells of a rotation that has not ended', async () => {
  const { finding, vault } = await withSecrets();
  vault.renew();
  const former = await finding();
  expectFinding(former, 'warn', '2 secrets under a former key');
  expect(former?.fix).toBe('cronogram secret rotate');
});

it('a backup says that the key is not in it, and a restore what cannot be opened without it', async () => {
  const { json, type, file } = await withSecrets();
  const made = await json<{ file: string; not_included: string[] }>('backup');
  expect(made.not_included).toContain(file);
  expect(await json('restore', made.file, '--yes')).toMatchObject({ secrets_without_key: 0 });
  rmSync(file);
  const { out } = await type('restore', made.file, '--yes');
  expect(out.replaceAll(/\s+/g, ' ')).toContain(
    '2 secrets cannot be opened: bring data/secrets-key from where you keep it, or set SECRETS_KEY.',
  );
  expect(await json('restore', made.file, '--yes')).toMatchObject({ secrets_without_key: 2 });
});
