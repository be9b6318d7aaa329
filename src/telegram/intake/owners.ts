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

type ClaimDeps = Pick<TelegramInDeps, 'digest' | 'log' | 'secret' | 'printClaim'>;

export type Claim = ReturnType<typeof createClaim>;

/**
 * The one-time code by which somebody becomes the first owner. It exists while there is no owner, is a new one at every
 * start, and only its hash is kept, in memory.
 */
export function createClaim({ digest, log, secret, printClaim }: ClaimDeps) {
  let hash: Buffer | null = null;
  let isUsed = false;
  const wrong = new Set<number>();
  /** Wrong codes have closed it, until the next start. */
  const isLocked = () => hash !== null && !isUsed && wrong.size >= triesMax;
  const isOpen = () => hash !== null && !isUsed && !isLocked();

  /**
   * `right` closes it, so that no second one can come in at the same time. An update that Telegram brings again is the
   * same try.
   */
  const attempt = (code: string, updateId: number): 'right' | 'wrong' | 'closed' => {
    if (hash === null || !isOpen()) return 'closed';
    if (timingSafeEqual(Buffer.from(digest.of(code)), hash)) {
      isUsed = true;
      return 'right';
    }
    wrong.add(updateId);
    log.warn('claim_refused', { tries: wrong.size });
    if (wrong.size >= triesMax) log.error('claim_locked', { explanation: 'Start the server again for a new code.' });
    return 'wrong';
  };

  return {
    /** Makes the code and shows it. */
    open: () => {
      const code = secret();
      hash = Buffer.from(digest.of(code));
      printClaim(code);
    },
    isOpen,
    isLocked,
    attempt,
    /** The new owner could not be written down: the code is good once more. */
    reopen: () => {
      isUsed = false;
    },
  };
}
