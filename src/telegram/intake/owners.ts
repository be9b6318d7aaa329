import { timingSafeEqual } from 'node:crypto';
import type { Chat } from '../../app/ports/chats.ts';
import type { Actor } from '../../domain/access.ts';
import type { TelegramInDeps } from './deps.ts';

type OwnersDeps = Pick<TelegramInDeps, 'store' | 'clock' | 'ids' | 'settings' | 'log'>;

/** People whom the operator named become owners, and the chats that he named are approved. Answers whether there is an owner. */
export async function admitConfigured(deps: OwnersDeps): Promise<boolean> {
  const { store, settings } = deps;
  await dismissUnnamed(deps);
  for (const id of settings.owners) await makeOwner(deps, { id, name: null });
  const [first] = await store.listOwners();
  for (const address of settings.chats) await approveChat(deps, address, first?.id ?? 'system');
  return first !== undefined;
}

const namedNote = 'telegram:owners:named';

/** Owners whom the operator names no more own the bot no more, and their private chat is closed. */
async function dismissUnnamed({ store, settings, clock, log }: OwnersDeps): Promise<void> {
  const named = settings.owners.map(String);
  const before = (await store.readNote(namedNote)) ?? '';
  for (const id of before.split(',').filter((one) => one !== '' && !named.includes(one))) {
    const actor = actorOf(Number(id));
    await store.changeUser(actor, { role: 'user' }, clock.now());
    const chat = await store.findChat(id);
    if (chat?.state === 'approved' && chat.approvedBy === actor) {
      await store.changeChat(chat.id, { state: 'new', approvedBy: null }, clock.now());
    }
    log.info('owner_removed', { user_id: Number(id) });
  }
  // Only now, so that a start that dies on the way does it once more.
  if (before !== named.join(',')) await store.writeNote(namedNote, named.join(','), clock.now());
}

/** An owner's private chat is approved with them. */
export async function makeOwner(
  deps: OwnersDeps,
  { id, name }: { readonly id: number; readonly name: string | null },
): Promise<void> {
  const { store, clock, log } = deps;
  const actor = actorOf(id);
  const known = await store.readUser(actor);
  if (known === null || name !== null)
    await store.noteUser({ id: actor, name: name ?? known?.name ?? null }, clock.now());
  if (known?.role !== 'owner') {
    await store.changeUser(actor, { role: 'owner' }, clock.now());
    log.info('owner_added', { user_id: id });
  }
  await approveChat(deps, String(id), actor);
}

/** A chat that nobody can reach now stays gone, and is approved when it is back. */
async function approveChat(deps: OwnersDeps, address: string, by: Actor): Promise<void> {
  const { store, clock, ids } = deps;
  const kind = address.startsWith('-') ? 'supergroup' : 'private';
  const chat =
    (await store.findChat(address)) ??
    (await store.noteChat({ newId: ids.next(), address, title: null, kind, at: clock.now() }));
  if (chat.state !== 'gone') await approve(deps, chat, by);
}

export async function approve({ store, clock, log }: OwnersDeps, chat: Chat, by: Actor): Promise<void> {
  if (chat.state === 'approved') return;
  await store.changeChat(chat.id, { state: 'approved', approvedBy: by }, clock.now());
  log.info('chat_approved', { chat_id: chat.id, address: chat.address, by });
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
