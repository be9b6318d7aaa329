import type { ActionForm, ReadAction } from '../../../app/actions/form.ts';
import { AppError } from '../../../domain/errors.ts';
import { telegramThread, threadKeyOf } from '../../../domain/thread.ts';
import { readAnywhere, timeOr } from '../../../domain/when/asked.ts';
import type { Answer, ChatContext, Handler } from '../context.ts';
import { wordsOfKind } from '../kit/action.ts';
import { sentenceOf, triedTo } from '../kit/answers.ts';
import { type Kept, type MakingStep, readingOf, type StepOf } from '../kit/drafts.ts';
import { onChat } from '../kit/guards.ts';
import { texts } from '../texts.ts';
import { stepOf, whenStep } from './beginning.ts';
import { missed, spoken } from './steps.ts';
import { withTime } from './wizard.ts';

/** Tasks that do something else than to say a text: `/fetch` and its like, each by the form of its kind. */

/** With everything it shows the preview at once, and without it asks for what is missing. */
export function actionCommand({ kind }: ActionForm): Handler {
  return onChat('create', async (ctx) => actionSaid(ctx, { kind }));
}

/** Reads when and what from one text. */
export async function actionSaid(ctx: ChatContext, kept: Kept): Promise<Answer> {
  const words = ctx.args.trim();
  const form = formIn(ctx, kept);
  if (words === '' || form === undefined) return spoken(ctx, { step: { step: 'ask', kept } });
  const tried = await triedTo(async () => form.command?.read(words) ?? null);
  if ('refusal' in tried)
    return notRead(ctx, { step: 'ask', kept }, sentenceOf(tried.refusal) ?? tried.refusal.message);
  if (tried.made === null) return timeSaid(ctx, kept);
  const { before, after } = tried.made;
  const isBehind = before === '' && after !== '' && timeOr(() => readAnywhere(after, readingOf(ctx))) !== null;
  return isBehind ? timeBehind(ctx, tried.made, kept) : timeBefore(ctx, tried.made, kept);
}

async function timeBefore(ctx: ChatContext, read: ReadAction, kept: Kept): Promise<Answer> {
  const tried = await triedTo(async () => timeAround(ctx, read));
  if ('refusal' in tried)
    return notRead(ctx, { step: 'ask', kept }, sentenceOf(tried.refusal) ?? tried.refusal.message);
  const { words, template } = tried.made;
  const known = withAction(ctx, kept, { ...read, spec: read.with(template) });
  const fault = await faultOf(ctx, known);
  if (fault !== null) return notRead(ctx, { step: 'ask', kept }, fault);
  if (words === '') return spoken(ctx, { step: whenStep(ctx, known) });
  return timeRead(ctx, words, known);
}

interface Parted {
  readonly words: string;
  readonly template: string;
}

/**
 * The words of the time, some of which may stand behind the call: a zone, an end, an hour. Throws for words there that can be
 * nothing else than time and do not go with the rest, and for a word before the call that is neither time nor a setting.
 */
function timeAround(ctx: ChatContext, { before, after, isApart, doubt }: ReadAction): Parted {
  const textOf: TextOf = (words) => timeOr(() => readAnywhere(words, readingOf(ctx)))?.text ?? null;
  const own = before === '' ? '' : (textOf(before) ?? before);
  if (doubt !== undefined && own.endsWith(doubt.word)) throw doubt.fault;
  const whole = { words: before, template: after };
  if (before === '' || after === '' || isApart === true) return whole;
  return parted(ctx, whole, { own, textOf });
}

/** As much of the words before the template as the time takes. */
function parted(
  ctx: ChatContext,
  whole: Parted,
  { own, textOf }: { readonly own: string; readonly textOf: TextOf },
): Parted {
  const { words: before, template: after } = whole;
  const [, words = '', templates = ''] = /^([\s\S]*?)(\{[{%][\s\S]*)?$/.exec(after) ?? [];
  const head = words.trim();
  if (head === '') return zoneAtEnd(whole, textOf);
  const left = textOf(`${before} ${head}`);
  const rest = left?.startsWith(own) === true ? left.slice(own.length).trim() : head;
  if (rest.length < head.length && head.endsWith(rest)) {
    const time = head.slice(0, head.length - rest.length);
    return { words: `${before} ${time}`.trim(), template: `${rest} ${templates}`.trim() };
  }
  refuseTime(ctx, head, before, textOf);
  return whole;
}

/** Words that can be nothing else than time. The fault of all of them together says best what is wrong, where they have one. */
function refuseTime(ctx: ChatContext, head: string, before: string, textOf: TextOf): void {
  if (textOf(`every day at 9 ${head}`) !== '' && textOf(head) !== '') return;
  readAnywhere(`${before} ${head}`, readingOf(ctx));
  throw new AppError('invalid_action', texts.action.timeBehind(head));
}

/** The text that is left of words beside their time; null where they cannot be read. */
type TextOf = (words: string) => string | null;

/** The name of a zone behind a template, which hardly anybody wants to be told. */
function zoneAtEnd({ words, template }: Parted, textOf: TextOf): Parted {
  const zone = /\s([A-Z]\w+(?:\/[\w+-]+){1,2})$/.exec(template)?.[1] ?? '';
  const isZone = zone !== '' && textOf(`${words} ${zone}`) === textOf(words);
  return isZone ? { words: `${words} ${zone}`, template: template.slice(0, -zone.length).trim() } : { words, template };
}

/** `https://example.com every day at 9`, where what is left behind the time belongs to the call. */
async function timeBehind(ctx: ChatContext, read: ReadAction, kept: Kept): Promise<Answer> {
  const { after } = read;
  const asked = timeOr(() => readAnywhere(after, readingOf(ctx)));
  const spec = read.with(asked?.text ?? after);
  const known = withAction(ctx, kept, { ...read, spec });
  const fault = await faultOf(ctx, known);
  if (fault !== null) return notRead(ctx, { step: 'ask', kept }, fault);
  if (asked === null) return spoken(ctx, { step: whenStep(ctx, known) });
  return spoken(ctx, { step: withTime({ ...asked, text: '' }, ctx.date, { kept: known, phrase: asked.words }) });
}

/** The words hold a time, and perhaps a name for the task. */
async function timeRead(ctx: ChatContext, words: string, kept: Kept): Promise<Answer> {
  const read = await stepOf(ctx, words, { kept, read: readAnywhere });
  if ('step' in read) return spoken(ctx, read);
  const { sentence, tries } = unreadTime(read.refusal.message);
  return missed(ctx, { step: 'ask', kept }, texts.action.unread(sentence, tries));
}

function unreadTime(message: string) {
  return { sentence: message.replace(/ Try "[\s\S]*$/, ''), tries: texts.making.timeTries };
}

/** No call stands there, so that the words are the time, and what is left of them a name. */
async function timeSaid(ctx: ChatContext, kept: Kept): Promise<Answer> {
  const read = timeOr(() => readAnywhere(ctx.args.trim(), readingOf(ctx)));
  if (read === null) return notRead(ctx, { step: 'ask', kept }, null);
  return spoken(ctx, { step: withTime(read, ctx.date, { kept, phrase: ctx.args.trim() }) });
}

/** The answer to the question what is to be done. */
export async function actionTyped(ctx: ChatContext, step: StepOf<'text' | 'retext'>): Promise<Answer> {
  const form = formIn(ctx, step.kept);
  const tried = await triedTo(async () => form?.command?.read(ctx.args.trim()) ?? null);
  if ('refusal' in tried) return notRead(ctx, step, sentenceOf(tried.refusal) ?? tried.refusal.message);
  if (tried.made === null) return notRead(ctx, step, null);
  const { before, doubt } = tried.made;
  // Another time takes the place of the one that is known.
  if (before !== '' && timeOr(() => readAnywhere(before, readingOf(ctx))) !== null)
    return timeBefore(ctx, tried.made, step.kept);
  if (doubt !== undefined) return notRead(ctx, step, sentenceOf(doubt.fault) ?? doubt.fault.message);
  const known = withAction(ctx, step.kept, tried.made);
  const fault = await faultOf(ctx, known);
  if (fault !== null) return notRead(ctx, step, fault);
  const { text: kept = '', ...others } = known;
  const { when, plan } = step;
  const text = before === '' ? (step.step === 'retext' ? step.text : kept) : before;
  return spoken(ctx, { step: { step: 'preview', when, plan, text, kept: others } });
}

/** The reason for which no task could do that, before anybody presses anything; null where one can. */
async function faultOf(ctx: ChatContext, kept: Kept): Promise<string | null> {
  const { action, name = '' } = kept;
  if (action === undefined) return null;
  // The text is not said yet, and is checked with the task.
  const instructions = formIn(ctx, kept)?.text === 'needed' ? 'text' : '';
  const threadKey = threadKeyOf(telegramThread(ctx.place.chat.address, ctx.place.topic));
  const wish = { threadKey, title: name === '' ? action.kind : name, instructions, action, actor: ctx.person.actor };
  const tried = await triedTo(() => ctx.testRuns.check(wish));
  return 'refusal' in tried ? (sentenceOf(tried.refusal) ?? tried.refusal.message) : null;
}

/** The words behind the command name nothing that could be done, or something that never can. */
function notRead(ctx: ChatContext, step: MakingStep, sentence: string | null): Promise<Answer> {
  const form = formIn(ctx, step.kept);
  if (form === undefined) return spoken(ctx, { step });
  const { ask, tries } = wordsOfKind(form);
  return missed(ctx, step, texts.action.unread(sentence ?? ask, tries));
}

function formIn({ kinds }: Pick<ChatContext, 'kinds'>, { kind = '' }: Kept): ActionForm | undefined {
  return kinds.formOf(kind);
}

function withAction(ctx: ChatContext, kept: Kept, { spec, assumed }: ReadAction): Kept {
  const name = formIn(ctx, kept)?.title?.(spec);
  const { guessed: _before, ...others } = kept;
  return {
    ...others,
    action: spec,
    ...(name === undefined ? {} : { name }),
    ...(assumed.length === 0 ? {} : { guessed: [...assumed] }),
  };
}
