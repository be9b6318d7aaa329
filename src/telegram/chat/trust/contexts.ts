import type { ContextWish } from '../../../app/tasks/context.ts';
import { unreferredFileMs } from '../../../domain/files/limits.ts';
import type { Drawn, Upload } from '../../../domain/shown.ts';
import { jsonBytes, type Task } from '../../../domain/task.ts';
import type { ChatContext } from '../context.ts';
import { answer, answerWith, Refused, triedTo } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { onNamedTask, targetOf } from '../kit/guards.ts';
import { drawn } from '../kit/rich.ts';
import { demand } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { contextShownMax } from './english.ts';

/** What the runs of a task know, for people to look at, to mend and to empty. */

const order = /^(?:(reset|clear|empty)|(set|remove|delete|unset)\s+(\S+)(?:\s*=)?\s*([\s\S]*))$/i;

export const contextCommand = onNamedTask(
  { deed: 'read', verb: 'context', takes: (words) => (order.test(words) ? 'yes' : 'no') },
  async (ctx, { task, rest }) => {
    const said = rest.trim();
    const wish = said === '' ? null : wishIn(said);
    if (wish === null)
      return said === '' ? answerWith(await shown(ctx, task, 'is')) : answer(texts.context.how(task.number));
    await demand(ctx, 'change', task);
    if (wish.is === 'unread') return answer(texts.context.notJson(wish.field, task.number));
    const tried = await triedTo(() => ctx.tasks.context(targetOf(ctx, task), wish));
    if ('refusal' in tried) throw new Refused(tried.refusal.message);
    const { entryId, task: changed } = tried.made;
    if (entryId === null) return answer(texts.context.same(taskName(task)));
    // Nothing takes it back, so what was there is shown once more.
    return answerWith(await (wish.is === 'reset' ? shown(ctx, task, 'was') : shown(ctx, changed, 'is')));
  },
);

/** `unread` where a value that can be nothing but JSON is none. */
function wishIn(words: string): ContextWish | { readonly is: 'unread'; readonly field: string } | null {
  const [, reset, verb, name = '', value = ''] = order.exec(words) ?? [];
  if (reset !== undefined) return { is: 'reset' };
  if (verb === undefined || name === '') return null;
  if (verb.toLowerCase() !== 'set') return { is: 'merged', fields: { [name]: null } };
  if (value === '') return null;
  const read = valueIn(value);
  const isBroken = typeof read === 'string' && /^[[{]/.test(value);
  return isBroken ? { is: 'unread', field: name } : { is: 'merged', fields: { [name]: read } };
}

/** Numbers, true, lists and objects are meant as JSON; everything else is a text. */
function valueIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

async function shown(ctx: ChatContext, task: Task, when: 'is' | 'was'): Promise<Drawn> {
  const { context: words } = texts;
  const name = taskName(task);
  if (when === 'is' && Object.keys(task.context).length === 0) return drawn(words.none(name, task.number));
  const text = JSON.stringify(task.context, null, 2);
  const facts = { bytes: jsonBytes(task.context), number: task.number };
  const media = text.length > contextShownMax ? await asFile(ctx, task, text) : null;
  if (media !== null) return { ...drawn(words[when](name, { ...facts, text: null })), media };
  return drawn(words[when](name, { ...facts, text }));
}

/** Null where the chat has no room for it, and where it would be shown to one person alone, which is done with words. */
async function asFile(
  { blobs, digest, clock, place, asker }: ChatContext,
  task: Task,
  text: string,
): Promise<Upload | null> {
  if (asker?.ephemeralId !== undefined) return null;
  const bytes = new TextEncoder().encode(text);
  const hash = digest.ofBytes();
  hash.add(bytes);
  const [sha256, mime, now] = [hash.hex(), 'application/json', clock.now()];
  const kept = await blobs.putBlob({
    chatId: place.chat.id,
    sha256,
    mime,
    bytes,
    now,
    expiresAt: now + unreferredFileMs,
  });
  if (kept === 'over_quota') return null;
  return { kind: 'document', sha256, name: `context-${task.number}.json`, mime, size: bytes.length };
}
