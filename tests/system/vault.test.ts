import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { keyBytes } from '../../src/domain/secrets/secret.ts';
import { openVault } from '../../src/system/vault.ts';
import { aFolder } from '../support/place.ts';

const keyOf = (byte: number) => Buffer.alloc(32, byte);
const aFile = () => join(aFolder(), 'secrets-key');
const fresh = (file: string) => {
  const vault = openVault({ file, given: [] });
  vault.allowFirst();
  return vault;
};
const refusal = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError && error.code === 'secrets_unavailable') return error.message;
    throw error;
  }
  return 'nothing was refused';
};

describe('a vault', () => {
  it('makes its key at the first need, in a file for its owner alone, and opens with it after a restart', () => {
    const file = aFile();
    const vault = fresh(file);
    expect(vault.ids()).toEqual([]);
    const box = vault.seal('row-1', 'sesame öffne dich');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toMatch(/^[\da-f]{64}\n$/);
    expect(openVault({ file, given: [] }).open('row-1', box)).toBe('sesame öffne dich');
    expect(vault.seal('row-1', 'sesame öffne dich').box).not.toBe(box.box);
    expect(JSON.stringify(box)).not.toContain('sesame');
  });

  it('makes no key where something is sealed already: the key is lost then, and it says so', () => {
    const vault = openVault({ file: aFile(), given: [] });
    expect(refusal(() => vault.seal('row', 'sesame'))).toMatch(
      /key of the secrets is missing\. Put .*secrets-key back/,
    );
    expect(refusal(() => vault.open('row', { keyId: 'x', box: '' }))).toContain('is missing');
  });

  it('opens and seals with a key that is put back while it runs', () => {
    const file = aFile();
    const box = fresh(file).seal('row-1', 'sesame');
    const key = readFileSync(file, 'utf8');
    rmSync(file);
    const vault = openVault({ file, given: [] });
    expect(refusal(() => vault.open('row-1', box))).toContain('is missing');
    expect(refusal(() => vault.seal('row-2', 'sesame'))).toContain('is missing');
    writeFileSync(file, key);
    expect(vault.open('row-1', box)).toBe('sesame');
    expect(vault.seal('row-2', 'sesame').keyId).toBe(box.keyId);
  });

  it('opens nothing with another key, in another row, or after a change, and never answers garbage', () => {
    const [one, other] = [openVault({ file: null, given: [keyOf(1)] }), openVault({ file: null, given: [keyOf(2)] })];
    const sealed = one.seal('row-1', 'sesame');
    expect(refusal(() => other.open('row-1', sealed))).toContain('sealed with another key');
    expect(refusal(() => one.open('row-2', sealed))).toContain('does not open');
    const bytes = Buffer.from(sealed.box, 'base64');
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(refusal(() => one.open('row-1', { ...sealed, box: changed.toString('base64') }))).toContain(
        'does not open',
      );
    }
    for (const box of ['', 'AAAA', bytes.subarray(0, 20).toString('base64')])
      expect(refusal(() => one.open('row-1', { ...sealed, box }))).toContain('does not open');
  });

  it('seals with a new key while the former one still opens, until it is forgotten', () => {
    const file = aFile();
    const vault = fresh(file);
    const before = vault.seal('row', 'sesame');
    vault.renew();
    vault.renew();
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(2);
    const again = openVault({ file, given: [] });
    again.renew();
    expect(again.ids()).toEqual(vault.ids());
    expect(again.open('row', before)).toBe('sesame');
    const after = again.seal('row', 'sesame');
    expect(after.keyId).not.toBe(before.keyId);
    again.forgetOthers();
    expect(again.open('row', after)).toBe('sesame');
    expect(refusal(() => again.open('row', before))).toContain('sealed with another key');
  });

  it('seals with a key that is given, and still opens what the file sealed', () => {
    const file = aFile();
    const before = fresh(file).seal('row', 'sesame');
    const text = readFileSync(file, 'utf8');
    const vault = openVault({ file, given: [keyOf(7)] });
    expect(vault.open('row', before)).toBe('sesame');
    expect(vault.seal('row', 'sesame').keyId).toBe(openVault({ file: null, given: [keyOf(7)] }).ids()[0]);
    vault.renew();
    vault.forgetOthers();
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('leaves a file alone that holds no key, and says so', () => {
    const file = aFile();
    writeFileSync(file, 'not a key\n');
    expect(refusal(() => fresh(file))).toContain('holds something that is no key');
    expect(readFileSync(file, 'utf8')).toBe('not a key\n');
  });
});

describe('a key', () => {
  it('is 64 hex digits or base64 of 32 bytes', () => {
    const key = Buffer.from(Array.from({ length: 32 }, (_each, index) => 255 - index * 3));
    for (const text of [
      key.toString('hex'),
      key.toString('hex').toUpperCase(),
      key.toString('base64'),
      key.toString('base64url'),
      ` ${key.toString('hex')}\n`,
    ])
      expect(keyBytes(text)).toEqual(key);
    for (const text of ['', 'a'.repeat(63), 'g'.repeat(64), key.subarray(1).toString('base64'), 'a b'])
      expect(keyBytes(text)).toBeNull();
  });
});
