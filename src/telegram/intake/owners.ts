import { timingSafeEqual } from 'node:crypto';
import type { Actor } from '../../domain/access.ts';
import type { TelegramInDeps } from './deps.ts';

type OwnersDeps = Pick<TelegramInDeps, 'store' | 'clock' | 'access' | 'settings'>;

const namedNotes = { owners: 'telegram:owners:named', chats: 'telegram:chats:named' } as const;

/**
 * The environment only seeds the list: what it names that it did not name at the last start is let in, owners whom it names
 * no more are forgotten, and in between the list alone holds, so that a denial outlives a restart. Answers whether there is
 * an owner; where there is none, the claim code makes one.
 */
export async function admitConfigured(deps: OwnersDeps): Promise<boolean> {
  const { access, store, settings } = deps;
  await followNames(deps, namedNotes.owners, settings.owners.map(String), {
    added: async (address) => makeOwner(deps, { id: Number(address), name: null }),
    removed: async (address) => void (await access.forget({ address, by: 'system' })),
  });
  const [first] = await store.listOwners();
  await followNames(deps, namedNotes.chats, settings.chats, {
    added: async (address) => void (await access.allow({ address, by: first?.id ?? 'system' })),
    removed: async () => {},
  });
  return first !== undefined;
}

interface Names {
  readonly added: (address: string) => Promise<void>;
  readonly removed: (address: string) => Promise<void>;
}

async function followNames(
  { store, clock }: OwnersDeps,
  note: string,
  named: readonly string[],
  { added, removed }: Names,
): Promise<void> {
  const before = ((await store.readNote(note)) ?? '').split(',').filter((one) => one !== '');
  for (const address of before) if (!named.includes(address)) await removed(address);
  for (const address of named) if (!before.includes(address)) await added(address);
  // Only now, so that a start that dies on the way does it once more.
  if (before.join(',') !== named.join(',')) await store.writeNote(note, named.join(','), clock.now());
}

/** An owner's private chat is approved with them. */
export async function makeOwner(
  { store, clock, access }: Pick<OwnersDeps, 'store' | 'clock' | 'access'>,
  { id, name }: { readonly id: number; readonly name: string | null },
): Promise<void> {
  if (name !== null) await store.noteUser({ id: actorOf(id), name }, clock.now());
  await access.allow({ address: String(id), role: 'owner', title: name, by: actorOf(id) });
}

export function actorOf(userId: number): Actor {
  return `telegram:user:${userId}`;
}

/** Wrong codes after which nobody can claim the bot until the server is started again. */
const triesMax = 5;

type ClaimDeps = Pick<TelegramInDeps, 'digest' | 'log' | 'secret' | 'printClaim' | 'store' | 'clock' | 'bootId'>;

export type Claim = ReturnType<typeof createClaim>;

type Standing = 'none' | 'open' | 'locked';

/**
 * The one-time code by which somebody becomes the first owner. It exists while there is no owner, is a new one at every
 * start, and only its hash is kept. Of several processes one shows it, and all of them know it.
 */
export function createClaim({ digest, log, secret, printClaim, store, clock, bootId }: ClaimDeps) {
  const hashOf = (code: string) => Buffer.from(digest.of(code));
  let isWanted = false;
  let last: Standing = 'none';
  const standing = async (): Promise<Standing> => {
    const claim = isWanted ? await store.readClaim() : null;
    // Wrong codes have closed it, until the next start.
    last = claim === null || claim.isUsed ? 'none' : claim.wrong >= triesMax ? 'locked' : 'open';
    return last;
  };
  const refuse = async (updateId: number): Promise<'wrong'> => {
    const tries = await store.noteWrongClaim(updateId, clock.now());
    log.warn('claim_refused', { tries });
    if (tries >= triesMax) log.error('claim_locked', { explanation: 'Start the server again for a new code.' });
    return 'wrong';
  };

  return {
    /** Makes the code and shows it, unless another process that lives has done so. */
    open: async (): Promise<void> => {
      isWanted = true;
      last = 'open';
      if (!(await store.holdLease('claim', bootId, { now: clock.now(), ms: null })).isMine) return;
      const code = secret();
      await store.openClaim(digest.of(code), clock.now());
      printClaim(code);
    },
    standing,
    /** Whether it was open when somebody last asked. */
    wasOpen: () => last === 'open',
    /**
     * `right` closes it, so that no second one can come in at the same time. An update that Telegram brings again is the
     * same try.
     */
    attempt: async (code: string, updateId: number): Promise<'right' | 'wrong' | 'closed'> => {
      const claim = await store.readClaim();
      if (claim === null || (await standing()) !== 'open') return 'closed';
      if (!timingSafeEqual(hashOf(code), Buffer.from(claim.hash))) return refuse(updateId);
      if (!(await store.useClaim(clock.now()))) return 'closed';
      last = 'none';
      return 'right';
    },
    /** The new owner could not be written down: the code is good once more. */
    reopen: async (): Promise<void> => {
      await store.reopenClaim();
      last = 'open';
    },
  };
}
