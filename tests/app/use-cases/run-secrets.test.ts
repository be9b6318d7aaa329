import { describe, expect, it } from 'vitest';
import type { RevealAsked } from '../../../src/app/ports/secrets.ts';
import { createRunSecrets } from '../../../src/app/use-cases/run-secrets.ts';
import { parseThreadKey } from '../../../src/domain/thread.ts';
import { openVault, sourceFor } from '../../../src/system/vault.ts';
import { actor, aChat, anOwner, aPipeline, group, minute } from '../../support/pipeline.ts';

const member = 'telegram:user:77';
const host = 'api.example.com';
const value = 'the value of the chat';

/** A chat with an owner of the bot, and the secrets of its runs; `given` are those of the environment. */
async function aRun(given: Parameters<typeof createRunSecrets>[0]['operator'] = []) {
  const vault = openVault(sourceFor(':memory:'));
  const p = await aPipeline({ vault });
  const chatId = await aChat(p);
  await anOwner(p);
  const ownerId: RevealAsked['ownerId'] = actor;
  const runSecrets = createRunSecrets({ store: p.store, vault, operator: given, clock: p.time });
  const scopes = ['action:http', `host:${host}`, 'secret:KEY'];
  const reveal = (asked: Partial<RevealAsked> = {}) =>
    runSecrets.reveal({ names: ['KEY'], chatId, ownerId: member, scopes, unconfirmed: [], host, ...asked });
  const set = (asked: object = {}) =>
    p.rooms.secrets.set({ place: parseThreadKey(group), name: 'KEY', value, by: member, ...asked });
  const valueOf = async (asked: Partial<RevealAsked> = {}) => {
    const answer = await reveal(asked);
    return answer.is === 'revealed' ? answer.values.get('KEY') : answer.reason;
  };
  const stored = async () => (await p.store.secretsOf(parseThreadKey(group)))[0];
  return { p, chatId, ownerId, runSecrets, reveal, set, valueOf, stored, scopes };
}

const ofOperator = { name: 'KEY', value: 'the value of the operator', hosts: [], chats: [] } as const;

describe('secrets of a run', () => {
  it('are refused by what is in the way, with a sentence that says what to do and no value', async () => {
    const { reveal, set, scopes, ownerId } = await aRun();
    const refusal = async (asked: Partial<RevealAsked> = {}) => {
      const answer = await reveal(asked);
      if (answer.is === 'revealed') throw new Error('it was revealed');
      expect(JSON.stringify(answer)).not.toContain(value);
      return [answer.reason, answer.name, answer.error];
    };
    expect(await refusal({ scopes: scopes.slice(0, 2) })).toEqual([
      'grant_scope',
      'KEY',
      'The grant of this task does not name the secret KEY. Save the task again, or renew its grant.',
    ]);
    expect(await refusal()).toEqual(['secret_missing', 'KEY', 'There is no secret KEY. Set it with /secrets set KEY.']);
    await set({ hosts: ['other.example.com'] });
    const [reason, , words] = await refusal();
    expect([reason, words]).toEqual([
      'secret_host',
      'The secret KEY must not be sent to api.example.com. It is for other.example.com.',
    ]);
    // All or none of them.
    await set({ hosts: [] });
    const both = { names: ['KEY', 'OTHER'], scopes: [...scopes, 'secret:OTHER'], ownerId };
    expect(await refusal(both)).toMatchObject(['secret_missing', 'OTHER', expect.any(String)]);
  });

  it('of the operator are for owners and for chats that were named, and go to their hosts or those of the grant', async () => {
    const { valueOf, ownerId, scopes } = await aRun([ofOperator]);
    const there = { value: ofOperator.value, version: 0 };
    expect(await valueOf()).toBe('secret_missing');
    expect(await valueOf({ ownerId })).toEqual(there);
    expect(await valueOf({ ownerId: 'system:api', chatId: null })).toEqual(there);
    const wide = ['action:http', 'host:*', 'secret:*'];
    expect(await valueOf({ ownerId, scopes: wide })).toBe('secret_host');
    expect(await valueOf({ ownerId, host: 'evil.example.com', scopes })).toBe('secret_host');

    const named = await aRun([{ ...ofOperator, hosts: ['*.example.com'], chats: ['-1001234'] }]);
    expect(await named.valueOf({ scopes: wide })).toEqual(there);
    expect(await named.valueOf({ chatId: null })).toBe('secret_missing');
    expect(await named.valueOf({ host: 'example.org', scopes: wide })).toBe('secret_host');
  });

  it('of the chat win over those of the operator, and over nothing once they are deleted', async () => {
    const { valueOf, set, p, ownerId } = await aRun([ofOperator]);
    await set();
    expect(await valueOf({ ownerId })).toMatchObject({ value });
    expect(await valueOf({ ownerId, chatId: null })).toMatchObject({ value: ofOperator.value });
    await p.rooms.secrets.delete({ place: parseThreadKey(group), name: 'KEY', by: member });
    expect(await valueOf({ ownerId })).toMatchObject({ value: ofOperator.value });
    expect(await valueOf()).toBe('secret_missing');
  });

  it('are replaced by whoever comes first with the version that was revealed, and never in the environment', async () => {
    const { valueOf, set, runSecrets, chatId, ownerId } = await aRun([{ ...ofOperator, name: 'GIVEN' }]);
    await set();
    const { version } = (await valueOf()) as { version: number };
    const replace = (next: string) => runSecrets.replace({ name: 'KEY', chatId, version, value: next });
    const both = await Promise.all([replace('first of two'), replace('second of two')]);
    expect(both.filter((isDone) => isDone)).toEqual([true]);
    const now = (await valueOf()) as { value: string; version: number };
    expect(now.value).toBe(both[0] ? 'first of two' : 'second of two');
    expect(now.version).toBeGreaterThan(version);
    await set({ value: 'by a person' });
    expect(await runSecrets.replace({ name: 'KEY', chatId, version: now.version, value: 'too late' })).toBe(false);
    expect(await valueOf()).toMatchObject({ value: 'by a person' });
    const scopes = ['host:api.example.com', 'secret:GIVEN'];
    expect(await valueOf({ names: ['GIVEN'], ownerId, scopes })).toBeUndefined();
    expect(await runSecrets.replace({ name: 'GIVEN', chatId, version: 0, value: 'another' })).toBe(false);
  });

  it('are noted as used when they are revealed, once a minute, and not when they are refused', async () => {
    const { reveal, set, stored, p } = await aRun();
    await set();
    await reveal({ scopes: [] });
    expect((await stored())?.lastUsedAt).toBeNull();
    await reveal();
    const first = p.time.now();
    expect((await stored())?.lastUsedAt).toBe(first);
    await p.time.advance(minute - 1);
    await reveal();
    expect((await stored())?.lastUsedAt).toBe(first);
    await p.time.advance(1);
    await reveal();
    expect((await stored())?.lastUsedAt).toBe(first + minute);
  });
});
