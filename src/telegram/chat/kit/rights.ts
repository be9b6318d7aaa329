import { may, type Deed, type Actor } from '../../../domain/access.ts';
import type { Task } from '../../../domain/task.ts';
import type { ChatContext, ChatDeps, Place } from '../context.ts';
import { texts } from '../texts.ts';
import { Refused } from './answers.ts';
import { aboutMoment, type Setting } from './clock.ts';
import { oneLine } from './rich.ts';

export type Asker = Pick<ChatContext, 'person' | 'place'>;

/** Why this person may not, as a sentence; null when they may. It is asked anew for every word and every callback. */
export async function refusal(
  { person, place, store }: Asker & Pick<ChatContext, 'store'>,
  deed: Deed,
  task: Task | null = null,
): Promise<string | null> {
  // Across chats nothing exists, not even for an owner of the bot: a button leads to the tasks of its own chat.
  if (task !== null && task.chatId !== place.chat.id) return texts.chat.noSuchTask;
  const verdict = may(person, deed, { chat: place.chat, task });
  if (verdict.ok) return null;
  switch (verdict.refusal.is) {
    case 'unseen':
      return texts.chat.noSuchTask;
    case 'not_theirs':
      return texts.access.notTheirs(await nameOf({ store }, verdict.refusal.ownerId));
    case 'admins_only':
      return texts.access.adminsOnly(await adminsOf(place, { store }));
    case 'owners_only':
      return texts.access.ownersOnly;
  }
}

/** Throws the refusal, where there is one. */
export async function demand(ctx: ChatContext, deed: Deed, task: Task | null = null): Promise<void> {
  const refused = await refusal(ctx, deed, task);
  if (refused !== null) throw new Refused(refused);
}

/** More names than that are not read. */
const adminsNamed = 2;
const nameShownMax = 30;

/** Admins of the chat whom somebody could ask, as far as their names are known. */
export async function adminsOf(
  { chat }: Pick<Place, 'chat'>,
  { store }: Pick<ChatDeps, 'store'>,
): Promise<readonly string[]> {
  if (chat.kind === 'private') return [];
  return (await store.adminNames(chat.id, adminsNamed)).map((name) => oneLine(name, nameShownMax));
}

export function mayManage({ person, place }: Asker): boolean {
  return may(person, 'manage', { chat: place.chat, task: null }).ok;
}

/** How a person is called; null when nobody knows. */
export async function nameOf(
  { store }: { readonly store: Pick<ChatDeps['store'], 'readUser'> },
  actor: Actor,
): Promise<string | null> {
  if (actor === 'system:api' || actor.startsWith('api:')) return texts.chat.theApi;
  if (actor === 'system') return null;
  return (await store.readUser(actor))?.name ?? null;
}

/** A name as a line below a message has room for it. */
export function shortName(name: string): string {
  return oneLine(name, 40);
}

/** The name of a person to stand in a sentence. */
export async function calledOf(ctx: Parameters<typeof nameOf>[0], actor: Actor): Promise<string> {
  return (await nameOf(ctx, actor)) ?? texts.chat.somebody;
}

/** Words about what keeps runs of the kind from beginning, or of all kinds; null where nothing does. */
export async function standstill(ctx: ChatContext, kind: string | null, setting: Setting): Promise<string | null> {
  const stands = await ctx.kindPauses.standstill(kind);
  if (stands === null) return null;
  const since = aboutMoment(stands.since, setting);
  return stands.is === 'no_worker'
    ? texts.server.standstill(since)
    : texts.server.kindStandstill(stands.kind, since, await calledOf(ctx, stands.by));
}
