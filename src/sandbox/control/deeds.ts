import type { z } from 'zod';
import type { Timer } from '../../app/ports/outside.ts';
import { AppError } from '../../domain/errors.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { durationMs } from '../../domain/schedule/time/duration.ts';
import {
  SandboxRefusal,
  type ChatShown,
  type Fault,
  type MessageShown,
  type Pressing,
  type SaidFile,
  type Saying,
  type World,
  type Travel,
  type JumpTarget,
} from '../world/world.ts';
import { given, json, read, type Answer } from './answers.ts';
import * as bodies from './bodies.ts';
import type { JumpedJson, PressedJson } from './shapes.ts';
import { chatOf, keyOf, faultJson, messageJson, platformJson } from './views.ts';

interface DeedDeps {
  readonly world: World;
  readonly travel: Travel | null;
  readonly timer: Timer;
  /** Called when the clock has been moved. */
  readonly onJump: () => void;
}

/** A POST is given its body, not yet checked, and a signal that ends every wait. */
type Deed = (body: unknown, signal: AbortSignal) => Promise<Answer>;

function deed<S extends z.ZodType>(schema: S, run: (asked: z.output<S>, signal: AbortSignal) => unknown): Deed {
  return async (body, signal) => json(await run(read(schema, body), signal));
}

/** Deeds of people, and whatever goes wrong on purpose, each by the name of its POST. */
export function createDeeds(deps: DeedDeps): Readonly<Record<string, Deed>> {
  const { world, onJump } = deps;
  const jump = createJumps(deps.travel);
  return {
    ...talk(deps),
    ...placeDeeds(world),
    ...switches(world),
    jump: deed(bodies.jumpBody, async ({ to }) => {
      const { now, visited, nextAt } = await jump(to);
      onJump();
      return { now: iso(now), visited, next_at: nextAt === null ? null : iso(nextAt) } satisfies JumpedJson;
    }),
    reset: deed(bodies.resetBody, () => {
      world.reset();
      return { reset: true };
    }),
  };
}

function talk({ world, timer }: DeedDeps): Readonly<Record<string, Deed>> {
  return {
    say: deed(bodies.sayBody, async ({ chat, wait: waitMs, ...asked }, signal) => {
      const chatId = chatOf(world, chat).id;
      const { result, answers } = await answersTo(
        { world, timer, chatId, waitMs, signal },
        () => world.say(sayingOf(asked, chatId)),
        (_message, told) => told.length > 0,
      );
      return { message: messageJson(result), answers: answers.map(messageJson) };
    }),
    press: deed(bodies.pressBody, async (asked, signal) => {
      const { as, button, wait: waitMs } = asked;
      const chat = chatOf(world, asked.chat);
      const target = pressedIn(asked) ?? newestWith(world, chat, { as, button });
      const { result, answers } = await answersTo(
        { world, timer, chatId: chat.id, waitMs, signal },
        () => world.press({ as, chat: chat.id, ...target, button }),
        ({ callbackId }, told) => {
          // An answer without words only ends the spinning of the button: what it led to is a message or an edit, at the pace of the chat.
          const answered = world.callbackAnswer(callbackId);
          return answered !== null && (answered.text !== null || told.length > 0);
        },
      );
      const { callbackId } = result;
      return {
        callback_id: callbackId,
        message_id: target.messageId,
        ephemeral_id: target.ephemeralId ?? null,
        callback: world.callbackAnswer(callbackId),
        answers: answers.map(messageJson),
      } satisfies PressedJson;
    }),
    edit: deed(bodies.editBody, ({ as, chat, message_id: messageId, text }) => {
      world.edit({ as, chat: chatOf(world, chat).id, messageId, text });
      return { edited: true };
    }),
  };
}

type SayDeed = Omit<z.output<typeof bodies.sayBody>, 'chat' | 'wait'>;

function sayingOf(asked: SayDeed, chat: number): Saying {
  const { as, thread = null, text = '', media, reply_to: replyTo, reply_to_ephemeral: replyToEphemeral } = asked;
  const file = Array.isArray(media) ? media.map(fileOf) : media && fileOf(media);
  return { as, chat, thread, text, ...given({ media: file, replyTo, replyToEphemeral, isEphemeral: asked.ephemeral }) };
}

function fileOf({ kind, name, data, mime_type: mimeType }: z.output<typeof bodies.file>): SaidFile {
  const bytes = data === undefined ? undefined : Buffer.from(data, 'base64');
  return { kind, ...given({ name, bytes, mimeType }) };
}

type Target = Pick<Pressing, 'messageId' | 'ephemeralId'>;

function pressedIn({
  message_id: messageId,
  ephemeral_id: ephemeralId,
}: z.output<typeof bodies.pressBody>): Target | null {
  if (ephemeralId !== undefined) return { messageId: 0, ephemeralId };
  return messageId === undefined ? null : { messageId };
}

/** Buttons that nobody has seen for this many messages are not what somebody means who names no message. */
const buttonsSoughtIn = 1000;

/** The newest message that the person can see. */
function newestWith(world: World, chat: ChatShown, { as, button }: Pick<Pressing, 'as' | 'button'>): Target {
  const messages = world.messages(chat.id, { limit: buttonsSoughtIn, as }).toReversed();
  const texts = ({ buttons }: MessageShown) => buttons.flat().map(({ text }) => text);
  const found = messages.find(({ buttons }) => buttons.flat().some(({ text, data }) => [text, data].includes(button)));
  if (found !== undefined) {
    return { messageId: found.messageId, ...given({ ephemeralId: found.ephemeralId ?? undefined }) };
  }
  const newest = messages.find(({ buttons }) => buttons.length > 0);
  const hint =
    newest === undefined ? 'No message there has buttons.' : `The newest buttons are: ${texts(newest).join(', ')}.`;
  const shown = button.slice(0, 64);
  throw new SandboxRefusal('no_button', `No message in "${keyOf(chat)}" has a button "${shown}". ${hint}`);
}

function placeDeeds(world: World): Readonly<Record<string, Deed>> {
  return {
    topic: deed(bodies.topicBody, (asked) => ({ thread_id: changeTopic(world, chatOf(world, asked.chat).id, asked) })),
    forum: deed(bodies.forumBody, ({ chat, on }) => {
      world.setForum(chatOf(world, chat).id, on);
      return { is_forum: on };
    }),
    migrate: deed(bodies.migrateBody, ({ chat }) => ({ chat_id: world.migrate(chatOf(world, chat).id) })),
    member: deed(bodies.memberBody, ({ chat, person, status }) => {
      world.setMember(chatOf(world, chat).id, person, status);
      return { status };
    }),
  };
}

function changeTopic(world: World, chat: number, asked: z.output<typeof bodies.topicBody>): number {
  if (asked.action === 'create') return world.createTopic(chat, asked.as, asked.name);
  if (asked.action === 'close') world.closeTopic(chat, asked.thread, asked.as);
  else if (asked.action === 'reopen') world.reopenTopic(chat, asked.thread, asked.as);
  else world.deleteTopic(chat, asked.thread);
  return asked.thread;
}

function switches(world: World): Readonly<Record<string, Deed>> {
  return {
    rights: deed(bodies.rightsBody, ({ chat, ...rights }) => {
      const { id } = chatOf(world, chat);
      world.setBotRights(id, given(rights));
      return { bot: chatOf(world, id).bot };
    }),
    bot: deed(bodies.botBody, ({ chat, status, by, start }) => {
      const { id } = chatOf(world, chat);
      world.setBotStatus(id, status, by);
      if (start !== undefined) world.say({ as: by, chat: id, text: `/start@${world.bot.username} ${start}` });
      return { bot: chatOf(world, id).bot };
    }),
    platform: deed(bodies.platformBody, ({ ephemeral: isEphemeralOn, privacy: isPrivacyOn }) => {
      world.setFeatures(given({ isEphemeralOn, isPrivacyOn }));
      return { platform: platformJson(world.features()) };
    }),
    fault: deed(bodies.faultBody, ({ chat, retry_after: retryAfter, delay_ms: delayMs, chance, ...met }) => {
      const chatId = chat === undefined ? undefined : chatOf(world, chat).id;
      const fault: Fault = { ...met, ...given({ chat: chatId, retryAfter, delayMs, chance }) };
      return { fault: faultJson({ ...fault, id: world.fault(fault) }) };
    }),
  };
}

/** Takes away one fault, or all. */
export function clearFaults(world: World, query: unknown): Answer {
  const { id } = read(bodies.faultQuery, query);
  if (id !== undefined && !world.faults().some((fault) => fault.id === id)) {
    throw new SandboxRefusal('no_message', 'There is no such fault: it is used up, or was never set. See GET fault.');
  }
  world.clearFault(id);
  return json({ faults: world.faults().map(faultJson) });
}

/** A task that runs every minute has half a million slots in a year, and a jump visits each of them. */
const jumpMaxMs = 400 * 86_400_000;

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Jumps one at a time: two at once could not both say truly where the clock stands. */
function createJumps(
  travel: Travel | null,
): (to: string) => Promise<Awaited<ReturnType<Travel['jump']>> & { readonly nextAt: number | null }> {
  let isUnderWay = false;
  return async (to) => {
    if (travel === null) {
      throw new SandboxRefusal('not_allowed', 'This sandbox runs on the real clock, which cannot jump.');
    }
    if (isUnderWay)
      throw new SandboxRefusal('not_allowed', 'A jump is under way. Wait for its answer, then jump again.');
    const target = targetOf(to, travel.now());
    isUnderWay = true;
    try {
      const landed = await travel.jump(target);
      return { ...landed, nextAt: await travel.nextAt() };
    } finally {
      isUnderWay = false;
    }
  };
}

/** Reads where to jump. The past is refused here already, so that every clock refuses it with the same words. */
function targetOf(to: string, now: number): JumpTarget {
  if (to === 'next') return 'next';
  const at = instant.test(to) ? Date.parse(to) : Number.NaN;
  const target = Number.isNaN(at) ? { byMs: lengthOf(to) } : { at };
  const byMs = 'at' in target ? target.at - now : target.byMs;
  if (byMs < 0) {
    throw new AppError(
      'too_late',
      `The clock stands at ${iso(now)} and never goes back. Name a later instant, or "next".`,
    );
  }
  if (byMs > jumpMaxMs) {
    throw new AppError('invalid_request', 'to: a jump goes at most 400 days. Go there in several jumps.');
  }
  return target;
}

function lengthOf(to: string): number {
  try {
    return durationMs(to);
  } catch (cause) {
    const message =
      'to: must be an instant with a zone ("2027-01-31T09:00:00Z"), "next", or a duration such as "PT1H" or "P1D".';
    throw new AppError('invalid_request', message, { cause });
  }
}

/** A bot that has said something and then is silent for this long has said it all: its parts follow one another at once. */
const quietMs = 300;
/** As far back as an answer may be an edit of something older. */
const lookedAt = 200;

interface Waiting {
  readonly world: World;
  readonly timer: Timer;
  readonly chatId: number;
  readonly waitMs: number;
  /** Ends the wait at once. */
  readonly signal: AbortSignal;
}

/**
 * Does something in a chat and waits until the bot has reacted there and fallen silent, at most `waitMs`. The answers are
 * the messages that the bot sent or changed meanwhile. `isDone` may ask for more than an answer before the silence counts.
 */
async function answersTo<T>(
  { world, timer, chatId, waitMs, signal }: Waiting,
  deed: () => T,
  isDone: (result: T, answers: readonly MessageShown[]) => boolean,
): Promise<{ readonly result: T; readonly answers: readonly MessageShown[] }> {
  const look = () => world.messages(chatId, { limit: lookedAt });
  const before = new Set(waitMs === 0 ? [] : look().map(shape));
  const result = deed();
  if (waitMs === 0) return { result, answers: [] };
  const answers = () => look().filter((message) => message.from === 'bot' && !before.has(shape(message)));
  await silence({ world, timer, chatId, waitMs, signal }, () => isDone(result, answers()));
  return { result, answers: answers() };
}

function shape(message: MessageShown): string {
  return JSON.stringify(message);
}

function silence({ world, timer, chatId, waitMs, signal }: Waiting, isDone: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    let callOffQuiet = () => {};
    const end = () => {
      unwatch();
      callOffQuiet();
      callOffWait();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const look = () => {
      callOffQuiet();
      if (isDone()) callOffQuiet = timer.after(quietMs, end);
    };
    const callOffWait = timer.after(waitMs, end);
    const unwatch = world.watch((change) => {
      if (change.chatId === chatId || change.kind === 'callback') look();
    });
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    else look();
  });
}
