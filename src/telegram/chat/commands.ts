import type { ActionForm } from '../../app/actions/form.ts';
import { isWholeTitle, tasksNamed } from '../../app/tasks/named.ts';
import { questionOf } from '../../app/why/questions.ts';
import { titlesReadMax } from '../../domain/limits.ts';
import { readTime, timeOr } from '../../domain/when/asked.ts';
import type { Answer, Command, ChatContext, Handler } from './context.ts';
import { editCommand, goOnEditing } from './edit/editing.ts';
import { helpCommand } from './help/help.ts';
import { wordsOfKind } from './kit/action.ts';
import { answer, forAsker, silence, turnedDown } from './kit/answers.ts';
import { momentIn, pauseEndIn } from './kit/days.ts';
import { type DraftAt, draftAnswered, draftHere, type OpenDraft, readingOf } from './kit/drafts.ts';
import { calledAlone, impliedBy, numberIn } from './kit/naming.ts';
import { misspeltOf, nearest, synonymOf } from './kit/nearest.ts';
import { actionCommand } from './new-task/acting.ts';
import { goOn, isAnotherTask } from './new-task/answering.ts';
import { joinedAlbum, newTask, quickly } from './new-task/beginning.ts';
import { madeMoved, pressedInWords, timeMended } from './new-task/words.ts';
import { allowCommand } from './place/allowing.ts';
import { startCommand, zoneCommand, zoneSaid } from './place/buttons.ts';
import { purgeCommand, topicCommand } from './place/removals.ts';
import { kindCommand, statusCommand } from './place/status.ts';
import { doneCommand, doneHere, isDoneWord } from './results/done.ts';
import { replied } from './results/replying.ts';
import { digestCommand, isDigestAsked } from './settings/digest.ts';
import { secretAsked, secretCancelled, secretsCommand } from './settings/secrets.ts';
import { settingsCommand } from './settings/settings.ts';
import {
  cancelCommand,
  deleteCommand,
  pauseCommand,
  resumeCommand,
  runCommand,
  snoozeCommand,
  skipCommand,
  undoCommand,
} from './task/doing.ts';
import { cardCommand, historyCommand, listCommand, nextCommand, whyCommand } from './task/looking.ts';
import { texts, type Texts } from './texts.ts';
import { contextCommand } from './trust/contexts.ts';
import { grantsCommand } from './trust/grants.ts';
import { usageCommand } from './usage/usage.ts';

/** The menu that everybody sees has room for a dozen; who manages a chat is shown more, and `/help` tells of all. */
function command(name: keyof Texts['help']['menu'], handle: Handler, shownTo: Command['menu'] = 'everybody'): Command {
  return { name, description: () => texts.help.menu[name], menu: shownTo, handle };
}

/** Answers that nobody else in a group needs to read. */
function reading(name: keyof Texts['help']['menu'], handle: Handler, shownTo: Command['menu'] = 'everybody'): Command {
  return { ...command(name, async (ctx) => forAsker(await handle(ctx)), shownTo), isReading: true };
}

/** Every command, in the order of the menu. Synonyms, such as `/done`, are done by `unknownCommand`. */
export const commands: readonly Command[] = [
  command('new', newTask),
  reading('tasks', listCommand),
  reading('next', nextCommand),
  command('run', runCommand),
  command('pause', async (ctx) => (await kindCommand(ctx, 'pause')) ?? pauseCommand(ctx)),
  command('resume', async (ctx) => (await kindCommand(ctx, 'resume')) ?? resumeCommand(ctx)),
  command('snooze', snoozeCommand),
  command('edit', editCommand),
  reading('history', historyCommand),
  reading('why', whyCommand),
  command('settings', settingsCommand),
  reading('help', helpCommand),
  reading('task', cardCommand, 'admins'),
  command('skip', skipCommand, 'admins'),
  command('undo', undoCommand, 'admins'),
  command('delete', deleteCommand, 'admins'),
  command('cancel', async (ctx) => (await secretCancelled(ctx)) ?? cancelCommand(ctx), 'admins'),
  command('digest', digestCommand, 'admins'),
  command('tz', zoneCommand, 'admins'),
  command('topic', topicCommand, 'admins'),
  command('secrets', secretsCommand, 'admins'),
  command('purge', purgeCommand, 'admins'),
  command('context', contextCommand, 'admins'),
  reading('grants', grantsCommand, 'admins'),
  reading('status', statusCommand, 'admins'),
  reading('usage', usageCommand, 'admins'),
  command('start', async (ctx) => (await secretAsked(ctx)) ?? startCommand(ctx), 'nobody'),
  command('allow', allowCommand, 'owners'),
];

/** With those of the actions behind `/new`. */
export function commandsFor(forms: readonly ActionForm[]): readonly Command[] {
  const made = forms.flatMap((form) => (form.command === undefined ? [] : [{ ...form, command: form.command }]));
  const ofActions = made.map((form): Command => {
    const { command: named } = form;
    return { name: named.name, description: () => wordsOfKind(form).menu, menu: 'admins', handle: actionCommand(form) };
  });
  return [...commands.slice(0, 1), ...ofActions, ...commands.slice(1)];
}

/** Text without a command: what a draft waits for, a reply to a message about a task, or in a private chat a new one. */
export const plainText: Handler = async (ctx) => {
  const draft = await draftHere(ctx);
  const joined = draft === null ? null : joinedAlbum(ctx, draft);
  if (joined !== null) return joined;
  const isFree = draft === null || draft.step.step === 'preview' || draft.step.step === 'question';
  const meant = (draft === null ? null : await aboutDraft(ctx, draft)) ?? (isFree ? await withoutSlash(ctx) : null);
  if (meant !== null) return meant;
  if (draft === null || draft.step.step === 'preview') {
    return orNoTask(ctx, (await replied(ctx)) ?? (await doneHere(ctx)) ?? (await quickly(ctx)));
  }
  return draft.step.step === 'edit' ? editGoesOn(ctx, { ...draft, step: draft.step }) : makingGoesOn(ctx, draft);
};

function editGoesOn(ctx: ChatContext, { row, step }: DraftAt<'edit'>): Promise<Answer> {
  return step.what === 'time' && isAnotherTask(ctx) ? quickly(ctx) : goOnEditing(ctx, { row, step });
}

async function makingGoesOn(ctx: ChatContext, draft: OpenDraft): Promise<Answer> {
  // A reply to the message of a task means that task, whatever else is open.
  const about = (await impliedBy(ctx))?.by === 'reply' ? await replied(ctx) : null;
  return about ?? goOn(ctx, draft);
}

async function aboutDraft(ctx: ChatContext, draft: OpenDraft): Promise<Answer | null> {
  return (await pressedInWords(ctx, draft)) ?? timeMended(ctx, draft);
}

/** "List", "pause swim", "done". */
async function withoutSlash(ctx: ChatContext): Promise<Answer | null> {
  const order = await orderIn(ctx);
  if (order !== null) return handlerOf(order.command)({ ...ctx, ...order });
  return isDoneAlone(ctx) ? doneCommand({ ...ctx, args: '' }) : zoneSaid(ctx);
}

/** "Done" in a private chat, where neither a task nor a text is asked for. */
function isDoneAlone({ place, repliedTo, args }: ChatContext): boolean {
  return place.chat.kind === 'private' && place.topicTask === null && repliedTo === null && isDoneWord(args);
}

function handlerOf(command: string): Handler {
  return commands.find(({ name }) => name === command)?.handle ?? unknownCommand;
}

/** A reply to a message of ours is always answered. */
async function orNoTask(ctx: ChatContext, told: Answer): Promise<Answer> {
  if (told !== silence || ctx.repliedTo?.isOurs !== true) return told;
  const answered = await draftAnswered(ctx);
  if (answered === null) return forAsker(answer(texts.reply.noTask));
  const { making } = texts;
  return forAsker(answer(answered.userId === ctx.person.actor ? making.over : making.onlyTheirs));
}

/** Owners' commands are not suggested to anybody else. */
function namesFor(isOwner: boolean): readonly string[] {
  return commands.filter(({ menu: shownTo }) => shownTo !== 'owners' || isOwner).map(({ name }) => name);
}

/**
 * In a group a word that is only the beginning of a command may well be the command of another bot. Words that people take
 * for commands of ours are answered like those.
 */
export function nearCommand(word: string): string | null {
  const lower = word.toLowerCase();
  return synonymOf(lower)?.name ?? misspeltOf(lower, namesFor(false));
}

/** Synonyms are done at once where they only read or ask; for all others the name of the command is told. */
export const unknownCommand: Handler = async (ctx) => {
  const word = ctx.command ?? '';
  const lower = word.toLowerCase();
  if (lower === 'done') return doneCommand(ctx);
  const synonym = synonymOf(lower);
  const command = synonym?.isDone === true ? commands.find(({ name }) => name === synonym.name) : undefined;
  if (command !== undefined) return command.handle({ ...ctx, command: command.name, args: argsOf(ctx) });
  const hint = texts.reply.synonyms[lower]?.(taskTold(ctx));
  const name = synonym?.name ?? actionNamed(ctx, lower) ?? nearest(lower, namesFor(ctx.person.isOwner));
  return turnedDown(hint ?? texts.chat.unknownCommand(word, name));
};

/** The command of an action that people call otherwise, or misspell. */
function actionNamed({ kinds }: ChatContext, word: string): string | null {
  const known = kinds.forms.flatMap(({ command }) => command ?? []);
  const called = known.find(({ also }) => also.includes(word))?.name ?? null;
  return (
    called ??
    misspeltOf(
      word,
      known.map(({ name }) => name),
    )
  );
}

/** "/remind me tomorrow" is the beginning of a sentence that is known. */
function argsOf({ command, args }: ChatContext): string {
  return command === 'remind' && /^(?:me|us)\b/i.test(args) ? `remind ${args}` : args;
}

function taskTold({ place, args }: ChatContext): string {
  const number = numberIn(place, args)?.number ?? place.topicTask?.number ?? null;
  return number === null ? '' : ` #${number}`;
}

/* ---- words without a slash, in a private chat outside of the topic of a task: "list", "undo", "pause swim" ---- */

interface Order {
  readonly command: string;
  readonly args: string;
}

const tasks = '(?:tasks?|reminders?)';

const ofChat: readonly (readonly [pattern: RegExp, command: string, args: string])[] = [
  [/^undo(?: (?:it|that|this))?$/i, 'undo', ''],
  [
    new RegExp(`^(?:list|${tasks}|(?:list|show)(?: me)?(?: all)?(?: my| the)? ${tasks}|(?:all )?my ${tasks})$`, 'i'),
    'tasks',
    '',
  ],
  [/^(?:next|agenda|what(?:['’]?s| is) (?:next|coming|on|up|planned|due))(?: today)?$/i, 'next', 'day'],
  [/^what (?:do (?:i|we) have|have (?:i|we) got)(?: on| planned| to do)?(?: today)?$/i, 'next', 'day'],
  [
    /^(?:agenda|what(?:['’]?s| is) (?:next|coming|on|up|planned|due)|what (?:do (?:i|we) have|have (?:i|we) got)(?: on| planned| to do)?)(?: for)? (?:tomorrow|(?:this|next|the) week)$/i,
    'next',
    'week',
  ],
  [/^settings$/i, 'settings', ''],
  [
    /^(?:(?:please )?help(?: me)?|what can (?:you|i|this bot) (?:do|say)(?: here)?|how (?:does (?:this|it)|do you) work)$/i,
    'help',
    '',
  ],
];

const ofTask =
  /^(?<verb>pause|resume|unpause|delete|remove|skip|snooze|run|edit|move|change|reschedule|history|why|done|show|next)(?: (?:the|my|task))* (?<rest>.+)$/i;
const verbs: Readonly<Record<string, string>> = {
  unpause: 'resume',
  remove: 'delete',
  show: 'task',
  move: 'edit',
  change: 'edit',
  reschedule: 'edit',
};
const ofTitle = /^rename(?: (?:the|my|task))* (?<name>.+?) (?:to|as) (?<title>.+)$/i;

const ofAll =
  /^(?<verb>pause|resume|unpause) (?:everything|all(?: of)?(?: (?:my|the))?(?: (?:tasks|reminders))?)(?: (?<rest>.+))?$/i;
const whenComes =
  /^when(?:['’]?s| is| are| does| do| will)(?: (?:the|my|next))* (?<name>.+?)(?: (?:due|next|coming|come|run|planned))*$/i;

/** Null where the words may be a new task. */
async function orderIn(ctx: ChatContext): Promise<Order | null> {
  const { place, repliedTo, media } = ctx;
  const isFree = place.chat.kind === 'private' && place.topicTask === null && repliedTo === null && media === null;
  const words = ctx.args
    .trim()
    .replace(/^please[, ]+/i, '')
    .replace(/(?:,? (?:please|pls|plz|thanks|thank you|thx))?[.!?\s]*$/i, '')
    .replace(/^skip (?:the |my )*next (?=\S)/i, 'skip ');
  if (!isFree || words.includes('\n')) return null;
  const found = ofChat.find(([pattern]) => pattern.test(words));
  if (found !== undefined) return { command: found[1], args: found[2] };
  return (
    forAll(ctx, words) ??
    digestOrder(ctx, words) ??
    howTo(words) ??
    (await renaming(ctx, words)) ??
    (await taskOrder(ctx, words)) ??
    (await aboutTitled(ctx, words)) ??
    (await movingMade(ctx, words)) ??
    (await snoozing(ctx, words))
  );
}

/** "How do I snooze?" */
function howTo(words: string): Order | null {
  const word =
    /^how (?:do|can|should) (?:i|we|you) (?<word>\p{L}+)(?: (?:a|it|my|one|some|the|this|tasks?|reminders?))*$/iu.exec(
      words,
    )?.groups?.['word'];
  return word !== undefined && nearCommand(word) !== null ? { command: 'help', args: word } : null;
}

const whyNot = /^why (?:(?:did|does|do|was|were|is|has|had)(?:n['’]?t)? |no |not )*(?:the |my )*(?<rest>.+)$/i;
const notCome =
  /\b(?:(?:did|does|was|is|has|had)(?:n['’]?t| not)?|not|never|come|came|run|ran|arrived?|happen(?:ed)?|fired?|sent|late|missing|skipped|there|at all)\b/gi;

/** "Why did swim not come yesterday?", "swim also saturdays at 11", "swim not on mondays", "stop swim": the whole title of a task stands there. */
async function aboutTitled(ctx: ChatContext, words: string): Promise<Order | null> {
  const asked = whyNot.exec(words)?.groups?.['rest'];
  const stopped = /^(?:stop|end|quit) (?:the |my )*(?<rest>.+)$/i.exec(words)?.groups?.['rest'];
  const { chat } = ctx.place;
  const titles = await ctx.store.titlesIn({ chatId: chat.id, deletedSince: null, limit: titlesReadMax });
  const said = asked ?? stopped ?? words;
  const [task] = titles.filter((one) => isWholeTitle(said, one)).toSorted((a, b) => b.title.length - a.title.length);
  if (task === undefined) return null;
  const rest = behind(said, task.title).trim();
  const named = `#${task.number}`;
  if (asked !== undefined) {
    const when = rest.replaceAll(notCome, ' ').replaceAll(/\s+/g, ' ').trim();
    return questionOf(when, readingOf(ctx)) === null ? null : { command: 'why', args: `${named} ${when}`.trim() };
  }
  if (stopped !== undefined) return rest === '' ? { command: 'stop', args: named } : null;
  return /^(?:also|not on|except(?: on)?|but not on) \S/i.test(rest)
    ? { command: 'edit', args: `${named} ${rest}` }
    : null;
}

/** "Pause everything", "pause all until monday", "resume all". */
function forAll(ctx: ChatContext, words: string): Order | null {
  const { verb = '', rest = '' } = ofAll.exec(words)?.groups ?? {};
  const command = verb.toLowerCase() === 'pause' ? 'pause' : 'resume';
  if (verb === '' || (rest !== '' && (command === 'resume' || pauseEndIn(rest, readingOf(ctx)) === null))) return null;
  return { command, args: `all ${rest}`.trim() };
}

/** "Digest weekdays 7:30", and the digest now or no more. */
function digestOrder(ctx: ChatContext, words: string): Order | null {
  const rest = /^digest (?<rest>.+)$/i.exec(words)?.groups?.['rest']?.toLowerCase() ?? '';
  return rest !== '' && isDigestAsked(rest, ctx) ? { command: 'digest', args: rest } : null;
}

/** "Snooze 2 hours" names no task, so it is asked which is meant; "snooze gran 2 hours" names one by a word of its title. */
async function snoozing(ctx: ChatContext, words: string): Promise<Order | null> {
  const said = /^snooze(?: (?:it|this|that))?(?: (?:for |until )?(?<rest>.+))?$/i.exec(words);
  const { rest = '' } = said?.groups ?? {};
  const isTime = rest === '' || [rest, `in ${rest}`].some((time) => isTimeAlone(time, ctx));
  if (said === null) return null;
  return isTime || (await isPartNamed(ctx, rest)) ? { command: 'snooze', args: rest } : null;
}

async function isPartNamed({ place, store }: ChatContext, words: string): Promise<boolean> {
  const titles = await store.titlesIn({ chatId: place.chat.id, deletedSince: null, limit: titlesReadMax });
  return tasksNamed(words, titles) !== null;
}

function isTimeAlone(words: string, ctx: ChatContext): boolean {
  return timeOr(() => readTime(words, readingOf(ctx)))?.text === '';
}

async function movingMade(ctx: ChatContext, words: string): Promise<Order | null> {
  const moved = await madeMoved(ctx, words);
  return moved === null ? null : { command: 'edit', args: `#${moved.task.number} ${moved.time}` };
}

async function renaming(ctx: ChatContext, words: string): Promise<Order | null> {
  const { name = '', title = '' } = ofTitle.exec(words)?.groups ?? {};
  if (name === '' || !(await isAboutTask(ctx, name))) return null;
  return { command: 'edit', args: `${name} title ${title}` };
}

async function taskOrder(ctx: ChatContext, words: string): Promise<Order | null> {
  const asked = whenComes.exec(words)?.groups?.['name'];
  if (asked !== undefined) return (await isAboutTask(ctx, asked)) ? { command: 'next', args: asked } : null;
  const { verb = '', rest = '' } = ofTask.exec(words)?.groups ?? {};
  const said = verb.toLowerCase();
  const command = verbs[said] ?? said;
  // "Move swim to 8" names what the other verbs say without a "to".
  const args = command === 'edit' ? rest.replace(/ to (?=\S)(?!.* to )/i, ' ') : rest;
  return verb !== '' && (await isAboutTask(ctx, args)) ? { command, args } : null;
}

/** A name or a number alone, or with a time behind it: "pause gym membership" is no order for the task gym. */
async function isAboutTask(ctx: ChatContext, words: string): Promise<boolean> {
  const { place, store } = ctx;
  const numbered = numberIn(place, words);
  if (numbered !== null) {
    const isThere = (await store.taskByNumber(place.chat.id, numbered.number)) !== null;
    return isThere && (numbered.rest === '' || isTime(numbered.rest, ctx));
  }
  if ((await calledAlone(ctx, words)) !== null) return true;
  const titles = await store.titlesIn({ chatId: place.chat.id, deletedSince: null, limit: titlesReadMax });
  return titles.some((task) => isWholeTitle(words, task) && isTime(behind(words, task.title), ctx));
}

function behind(words: string, title: string): string {
  return words.split(/\s+/).slice(title.trim().split(/\s+/).length).join(' ');
}

function isTime(words: string, ctx: ChatContext): boolean {
  const reading = readingOf(ctx);
  if (momentIn(words, reading, 'morning') !== null || pauseEndIn(words, reading) !== null) return true;
  return timeOr(() => readTime(words, reading))?.text === '';
}
