import type { SecretPlace } from '../../../app/ports/secrets.ts';
import type { SecretAnswered } from '../../../app/use-cases/secret-questions.ts';
import type { ShownSecret } from '../../../app/use-cases/secrets.ts';
import { nameFault } from '../../../domain/secrets/secret.ts';
import { telegramThread } from '../../../domain/thread.ts';
import { type Answer, type ChatContext, secretArg } from '../context.ts';
import { answer, forAsker, Refused } from '../kit/answers.ts';
import { settingHere } from '../kit/card.ts';
import { aboutMoment } from '../kit/clock.ts';
import { onChat } from '../kit/guards.ts';
import { blocks, lines, type Rich } from '../kit/rich.ts';
import { calledOf } from '../kit/rights.ts';
import { texts } from '../texts.ts';

/** `/secrets`: names of the secrets of this chat, and how one is set and deleted. Their values are asked for in private alone. */
export async function secretsCommand(ctx: ChatContext): Promise<Answer> {
  if (ctx.place.chat.kind === 'private' && ctx.secretQuestions.isSealed(ctx.args)) return answered(ctx);
  try {
    return await managed(ctx);
  } finally {
    // After a refusal nothing is asked; a question that was asked is expected no more.
    if (asking.test(ctx.args)) await ctx.secretQuestions.unexpect(ctx.person.id);
  }
}

const asking = /^\s*set\s/i;

const managed = onChat('manage', async (ctx) => {
  const [verb = '', name = '', ...others] = ctx.args.trim().split(/\s+/);
  if (verb === '') return forAsker(answer(await listed(ctx)));
  const word = verb.toLowerCase();
  if ((word !== 'set' && word !== 'delete') || name === '') throw new Refused(texts.secrets.how());
  // Words behind the name may be the value: they are in the chat already, so it is said how to take them away.
  if (others.length > 0) throw new Refused(word === 'set' ? texts.secrets.notHere() : texts.secrets.how());
  if (nameFault(name) !== null) throw new Refused(texts.secrets.wrongName(name.slice(0, 64)));
  return word === 'set' ? asked(ctx, name) : deleted(ctx, name);
});

function placeIn({ place: { chat } }: ChatContext) {
  return telegramThread(chat.address);
}

async function listed(ctx: ChatContext): Promise<Rich> {
  const { secrets: words } = texts;
  const secrets = await ctx.secrets.list(placeIn(ctx));
  if (secrets.length === 0) return blocks(words.none, words.how());
  const setting = settingHere(ctx);
  const lineOf = async ({ name, setBy, updatedAt, usedBy }: ShownSecret) =>
    words.entry({
      name,
      by: setBy === null ? null : await calledOf(ctx, setBy),
      at: updatedAt === null ? null : aboutMoment(updatedAt, setting),
      tasks: usedBy.map(({ number }) => number),
    });
  return blocks(words.title(), lines(...(await Promise.all(secrets.map(lineOf)))), words.how());
}

async function asked(ctx: ChatContext, name: string): Promise<Answer> {
  const { place, person, bot } = ctx;
  const isAsked = place.chat.kind === 'private';
  const title = isAsked ? null : (place.chat.title ?? place.chat.address);
  const chat = { ...placeIn(ctx), title: title ?? '' };
  await ctx.secretQuestions.ask({ userId: person.id, by: person.actor, name, chat, isAsked });
  if (isAsked) return answer(texts.secrets.ask(name, null, await usesOf(ctx, placeIn(ctx), name)));
  return forAsker(answer(texts.secrets.inPrivate(name, `https://t.me/${bot}?start=${secretArg}`)));
}

/** `/start secret`, to which a group leads: the question is asked here. */
export async function secretAsked(ctx: ChatContext): Promise<Answer | null> {
  if (ctx.place.chat.kind !== 'private' || ctx.args !== secretArg) return null;
  const question = await ctx.secretQuestions.begin(ctx.person.id);
  if (question === null) return answer(texts.secrets.over);
  const { name, title, provider, address } = question;
  const uses = await usesOf(ctx, { provider, address }, name);
  return answer(texts.secrets.ask(name, title === '' ? null : title, uses));
}

const usesShownMax = 5;

/** Uses that tasks will make of a secret, told before its value is given. */
async function usesOf({ secrets, store, kinds }: ChatContext, place: SecretPlace, name: string) {
  const users = await secrets.usersOf(place, name);
  const uses = await Promise.all(
    users.slice(0, usesShownMax).map(async ({ taskId, number }) => {
      const task = await store.readTask(taskId);
      const sent = task === null ? [] : kinds.secretsOf(task.action).filter((one) => one.name === name);
      // Of a name that stands in the context only a run knows the host.
      const all = sent.length === 0 ? [null] : sent;
      return all.map((one) => texts.secrets.use(number, one));
    }),
  );
  const more = users.length - usesShownMax;
  return [...uses.flat(), ...(more > 0 ? [texts.secrets.moreUses(more)] : [])];
}

/** `/cancel` while a value is asked for; null where none is. */
export async function secretCancelled(ctx: ChatContext): Promise<Answer | null> {
  const name = ctx.place.chat.kind === 'private' ? await ctx.secretQuestions.cancel(ctx.person.id) : null;
  return name === null ? null : answer(texts.secrets.cancelled(name));
}

/** The words were sealed on their way in; the message with them goes before anything else. */
async function answered(ctx: ChatContext): Promise<Answer> {
  const isGone = await ctx.deleteSaid(ctx.place.chat.address, ctx.messageId);
  const outcome = await ctx.secretQuestions.answer(ctx.person.id, ctx.messageId, ctx.args);
  return answer(blocks(wordsOf(outcome), isGone ? null : texts.secrets.deleteYourself));
}

function wordsOf(outcome: SecretAnswered): Rich | string {
  const { secrets } = texts;
  switch (outcome.is) {
    case 'set':
      return secrets.set(outcome.name, outcome.title === '' ? null : outcome.title);
    case 'cut':
      return secrets.cut(outcome.name);
    case 'late':
      return secrets.over;
    case 'barred':
      return secrets.barred(outcome.title);
    case 'refused':
      return blocks(texts.refusal[outcome.error.code] ?? outcome.error.message, secrets.again(outcome.name));
  }
}

async function deleted(ctx: ChatContext, name: string): Promise<Answer> {
  const secrets = await ctx.secrets.list(placeIn(ctx));
  const known = secrets.find((one) => one.name === name);
  // Told again after a crash, it is gone already.
  if (known === undefined) return answer(texts.secrets.noSuch(name));
  await ctx.secrets.delete({ place: placeIn(ctx), name, by: ctx.person.actor, traceId: ctx.key });
  return answer(
    texts.secrets.deleted(
      name,
      known.usedBy.map(({ number }) => number),
    ),
  );
}
