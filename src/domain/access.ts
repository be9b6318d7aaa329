import { settingsOf } from './chat-settings.ts';
import { invalid } from './errors.ts';

/**
 * Rights decide who may do what. They are asked for owners and for people in an approved chat; the intake turns strangers
 * away before. An owner may do everything. The admins of a chat manage all of its tasks, the others
 * their own; everybody in the chat reads. What belongs to another chat does not exist, for owners neither: whoever wants it
 * goes there.
 */
export type Deed =
  /** Look at a task, or at the list of them. */
  | 'read'
  | 'create'
  /** All that acts on one task: run, pause, edit, delete, cancel, and every button of its messages. */
  | 'change'
  /** All that concerns the whole chat: its zone, its settings, all of its tasks at once. */
  | 'manage'
  /** Let people and chats in, and look at the server. */
  | 'approve';

export interface Rights {
  readonly actor: Actor;
  readonly isOwner: boolean;
  readonly isAdmin: boolean;
}

interface AccessScene {
  readonly chat: { readonly id: string; readonly settings: Readonly<Record<string, unknown>> };
  readonly task: { readonly ownerId: Actor; readonly chatId: string } | null;
}

export type AccessRefusal =
  /** For this person there is no such task. */
  | { readonly is: 'unseen' }
  | { readonly is: 'not_theirs'; readonly ownerId: Actor }
  | { readonly is: 'admins_only' }
  | { readonly is: 'owners_only' };

type Verdict = { readonly ok: true } | { readonly ok: false; readonly refusal: AccessRefusal };

const yes: Verdict = { ok: true };

export function may(person: Rights, deed: Deed, { chat, task }: AccessScene): Verdict {
  if (task !== null && task.chatId !== chat.id) return no({ is: 'unseen' });
  if (person.isOwner) return yes;
  if (deed === 'approve') return no({ is: 'owners_only' });
  if (person.isAdmin || deed === 'read') return yes;
  switch (deed) {
    case 'create':
      return settingsOf(chat.settings).create === 'members' ? yes : no({ is: 'admins_only' });
    case 'manage':
      return no({ is: 'admins_only' });
    case 'change':
      return mayChange(person, task);
  }
}

/** A deed that names no task is one on all of them. */
function mayChange(person: Rights, task: AccessScene['task']): Verdict {
  if (task === null) return no({ is: 'admins_only' });
  return task.ownerId === person.actor ? yes : no({ is: 'not_theirs', ownerId: task.ownerId });
}

function no(refusal: AccessRefusal): Verdict {
  return { ok: false, refusal };
}

/**
 * An actor did something: a person, a named API token, or the product itself. The type is part of the text, so that a row in
 * the audit is readable without a join and two kinds of id can never be mixed up.
 */
export type Actor = `telegram:user:${number}` | `api:token:${string}` | 'system' | 'system:api';

/** The principal as which the bearer of API_TOKEN acts. It owns tasks in threads that no person has approved. */
export const apiPrincipal = 'system:api' satisfies Actor;

const shapes = /^(telegram:user:[1-9]\d{0,15}|api:token:[\w.-]{1,64}|system|system:api)$/;

export function isActor(text: string): text is Actor {
  return shapes.test(text);
}

/** The actor that a field of a request names. */
export function actorNamed(field: string, text: string): Actor {
  if (isActor(text)) return text;
  throw invalid(field, `${field}: it looks like telegram:user:1234, or system:api.`);
}

/** The id under which Telegram knows a person; null for what is no person of Telegram. */
export function userIdOf(actor: string): number | null {
  const id = /^telegram:user:(\d+)$/.exec(actor)?.[1];
  return id === undefined ? null : Number(id);
}

export function isPerson(actor: Actor): boolean {
  return actor.startsWith('telegram:user:');
}
