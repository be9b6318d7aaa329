import type { Actor } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import type { ChatStore } from '../ports/chats.ts';
import type { World } from '../ports/outside.ts';
import type { KeyRing } from '../ports/secrets.ts';
import type { UpkeepStore } from '../ports/upkeep.ts';
import type { Secrets } from './secrets.ts';

/**
 * Questions for the value of a secret, asked in the private chat of a person alone. The answer is sealed before anything of it
 * is stored, so this is asked by the intake as well: the row of the inbox holds the box, and nobody else ever sees the words.
 */
export type SecretQuestions = ReturnType<typeof createSecretQuestions>;

interface Question {
  /** The box of its answer opens under this id alone. */
  readonly id: string;
  readonly name: string;
  /** The chat for which it is set. */
  readonly provider: string;
  readonly address: string;
  readonly title: string;
  readonly by: Actor;
  /** False while its person was led to the private chat and has not come there. */
  readonly isAsked: boolean;
  readonly until: number;
  /** The message that answered it, whose later wording is an answer as well. */
  readonly answeredBy: number | null;
  /** It is about to be asked: the command for it was heard, and is not handled yet. */
  readonly isExpected?: true;
  /** Until then words are the rest of an answer that Telegram cut in pieces. */
  readonly cutUntil: number;
}

export interface AskedSecret {
  readonly userId: number;
  readonly by: Actor;
  readonly name: string;
  readonly chat: { readonly provider: string; readonly address: string; readonly title: string };
  readonly isAsked: boolean;
}

export type SecretAnswered =
  | { readonly is: 'set'; readonly name: string; readonly title: string }
  | { readonly is: 'refused'; readonly name: string; readonly error: AppError }
  /** The person who was asked may set no secrets in that chat any more. */
  | { readonly is: 'barred'; readonly title: string }
  /** Telegram cuts long words in pieces, of which none is the value. */
  | { readonly is: 'cut'; readonly name: string }
  /** No question is open that it answers. */
  | { readonly is: 'late' };

type Deps = Pick<World, 'clock' | 'ids'> & {
  readonly store: Pick<UpkeepStore, 'readNote' | 'writeNote'> & Pick<ChatStore, 'findChat' | 'readUser' | 'readMember'>;
  readonly vault: KeyRing;
  readonly secrets: Pick<Secrets, 'set' | 'allowFirst'>;
};

/** Long enough to fetch a key from where it is shown, and short enough that nobody forgets that it is open. */
const secretAskedMs = 600_000;
/** A message can be changed for two days. */
const changedMs = 48 * 3_600_000;
/** Telegram sends the pieces of long words at once. */
const cutMs = 60_000;
/** The longest text of one message, in UTF-16 units. */
const messageUnitsMax = 4096;

const lateMs = 3_600_000;

/** Stands before the box in the words of a stored answer. */
const mark = '=';

export function createSecretQuestions(deps: Deps) {
  const { clock, ids } = deps;
  const { read, write, isOpen } = notesOf(deps);
  return {
    /** Asks, or notes what will be asked when the person comes to the private chat. */
    ask: async ({ userId, chat, ...asked }: AskedSecret): Promise<void> => {
      const until = clock.now() + secretAskedMs;
      const before = await read(userId);
      const id = before?.isExpected === true ? before.id : ids.next();
      await write(userId, { id, ...chat, ...asked, until, answeredBy: null, cutUntil: 0 });
    },
    /**
     * The command for a question has come in. Whoever writes without waiting for the question, or wrote both while the server was
     * away, has their words sealed all the same.
     */
    expect: async (userId: number, by: Actor): Promise<void> => {
      const until = clock.now() + secretAskedMs;
      const nobody = { name: '', provider: '', address: '', title: '', by };
      const asked = { ...nobody, isAsked: true, until, answeredBy: null, cutUntil: 0 };
      await write(userId, { id: ids.next(), ...asked, isExpected: true });
    },
    /** The command came to nothing. */
    unexpect: async (userId: number): Promise<void> => {
      if ((await read(userId))?.isExpected === true) await write(userId, null);
    },
    /** The question to which the person was led; null where it is over. */
    begin: async (userId: number): Promise<Pick<Question, 'name' | 'title' | 'provider' | 'address'> | null> => {
      const question = await read(userId);
      if (question === null || question.answeredBy !== null || question.until <= clock.now()) return null;
      await write(userId, { ...question, isAsked: true, until: clock.now() + secretAskedMs });
      return question;
    },
    /** The name that was asked for; null where nothing was. */
    cancel: async (userId: number): Promise<string | null> => {
      const question = await read(userId);
      if (question === null || !isOpen(question)) return null;
      await write(userId, null);
      return question.name;
    },
    /**
     * What is kept in the place of the words that answer a question, or change such an answer; null where the words are none.
     * `text` is null for what is no text, such as a file.
     */
    sealed: (userId: number, messageId: number, text: string | null): Promise<string | null> =>
      sealedWords(deps, { userId, messageId, text }),
    isSealed: (words: string): boolean => words.startsWith(mark),
    /** Opens what was kept, and sets the secret. It comes to the same end when it is told again. */
    answer: (userId: number, messageId: number, words: string): Promise<SecretAnswered> =>
      answered(deps, { userId, messageId, words }),
  };
}

/** A right that was lost after the question counts no more, as far as Telegram has told of that; one's own chat stays one's own. */
async function mayStill({ store }: Deps, { by, address, title }: Question): Promise<boolean> {
  if (title === '') return true;
  if ((await store.readUser(by))?.role === 'owner') return true;
  const chat = await store.findChat(address);
  if (chat === null || chat.state !== 'approved') return false;
  return (await store.readMember(chat.id, by))?.status === 'admin';
}

function notesOf({ store, clock }: Pick<Deps, 'store' | 'clock'>) {
  const keyOf = (userId: number) => `secret:${userId}`;
  const read = async (userId: number): Promise<Question | null> => {
    const text = await store.readNote(keyOf(userId));
    return text === null || text === '' ? null : (JSON.parse(text) as Question);
  };
  const write = (userId: number, question: Question | null) =>
    store.writeNote(keyOf(userId), question === null ? '' : JSON.stringify(question), clock.now());
  const isOpen = ({ isAsked, until, answeredBy }: Question) => isAsked && answeredBy === null && until > clock.now();
  /** A single word that comes a while after the question is most likely the key that was asked for, so it is not kept either. */
  const isLate = ({ isAsked, until, answeredBy }: Question, text: string | null) =>
    isAsked && answeredBy === null && until + lateMs > clock.now() && text !== null && /^\S{8,}$/.test(text);
  return { read, write, isOpen, isLate };
}

async function sealedWords(
  deps: Deps,
  { userId, messageId, text }: { readonly userId: number; readonly messageId: number; readonly text: string | null },
): Promise<string | null> {
  const { clock, vault, secrets } = deps;
  const { read, write, isOpen, isLate } = notesOf(deps);
  const question = await read(userId);
  if (question === null) return null;
  const isChange = question.answeredBy === messageId && question.until + changedMs > clock.now();
  const isRest = question.cutUntil > clock.now();
  if (!isOpen(question) && !isChange && !isRest) return isLate(question, text) ? `${mark}${question.id} late` : null;
  if (text === null) return `${mark}${question.id} none`;
  if (isRest || text.length >= messageUnitsMax) {
    await write(userId, { ...question, until: 0, cutUntil: clock.now() + cutMs });
    return `${mark}${question.id} cut`;
  }
  try {
    await secrets.allowFirst();
    const { keyId, box } = vault.seal(question.id, text);
    return `${mark}${question.id} ${keyId} ${box}`;
  } catch (error) {
    // The words must not be kept in any other way.
    if (error instanceof AppError && error.code === 'secrets_unavailable') return `${mark}${question.id} unsealed`;
    throw error;
  }
}

async function answered(
  deps: Deps,
  { userId, messageId, words }: { readonly userId: number; readonly messageId: number; readonly words: string },
): Promise<SecretAnswered> {
  const { clock, vault, secrets } = deps;
  const { read, write } = notesOf(deps);
  const [id, keyId = '', box = ''] = words.slice(mark.length).split(' ');
  const question = await read(userId);
  if (question === null || question.id !== id || question.isExpected === true) return { is: 'late' };
  const { name, provider, address, title, by } = question;
  if (keyId === 'late') return { is: 'late' };
  if (keyId === 'cut') return { is: 'cut', name };
  if (!(await mayStill(deps, question))) {
    await write(userId, null);
    return { is: 'barred', title };
  }
  try {
    if (keyId === 'none') throw new AppError('invalid_request', 'The value must come as a text.');
    if (keyId === 'unsealed') vault.seal(question.id, '');
    const value = vault.open(question.id, { keyId, box });
    await secrets.set({ place: { provider, address }, name, value, by, traceId: `telegram:secret:${id}` });
    await write(userId, { ...question, answeredBy: messageId, until: clock.now() });
    return { is: 'set', name, title };
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'internal' || error.code === 'store_unavailable') throw error;
    return { is: 'refused', name, error };
  }
}
