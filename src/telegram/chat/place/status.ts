import type { ServerStatus } from '../../../app/operations/status.ts';
import type { WorkCounts } from '../../../app/ports/tasks.ts';
import type { KindPause } from '../../../domain/processes/process.ts';
import type { Answer, ChatContext } from '../context.ts';
import { answer, Refused } from '../kit/answers.ts';
import { settingHere } from '../kit/card.ts';
import { aboutMoment, type Setting } from '../kit/clock.ts';
import { onChat, threadOf } from '../kit/guards.ts';
import { calledAlone } from '../kit/naming.ts';
import { blocks, lines, type Rich } from '../kit/rich.ts';
import { calledOf, standstill } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { checklist, privateText } from './checklist.ts';

/** How things stand: the chat for everybody in it, the server for its owners. */
export const statusCommand = onChat('read', async (ctx) => {
  const { place, person } = ctx;
  const setUp = await ctx.setUp(place);
  const words = blocks(
    setUp.isPrivate
      ? privateText(setUp, `@${ctx.bot}`, place.chat)
      : checklist({ ...place, setUp, now: ctx.clock.now() }),
    chatStatus(await ctx.bulk.count({ thread: threadOf(place) })),
    await standstill(ctx, null, settingHere(ctx)),
    person.isOwner ? await serverStatus(await ctx.status(), ctx) : null,
  );
  return answer(words);
});

function chatStatus(counts: WorkCounts): Rich {
  const { server } = texts;
  return lines(server.chatTitle(), server.chatTasks(counts), server.chatWork(counts));
}

/** For owners: everything that a person would otherwise look for in several places. */
async function serverStatus(status: ServerStatus, ctx: ChatContext): Promise<Rich> {
  const setting = settingHere(ctx);
  const { version, startedAt, ready, facts, audit, alarms, secrets, lastStaleLookAt, worker } = status;
  const { server } = texts;
  const { ok, ...parts } = ready;
  const unwell = Object.entries(parts).filter(([, state]) => state !== 'ok');
  return lines(
    server.title(),
    server.version(version, aboutMoment(startedAt, setting)),
    ok ? server.well : server.unwell(unwell.map(([name, state]) => `${name} (${String(state)})`).join(', ')),
    server.tasks(facts.tasks, facts.active, facts.chats),
    facts.dueSince === null ? server.onTime : server.late(facts.due, aboutMoment(facts.dueSince, setting)),
    ...processLines(status, setting),
    ...(await Promise.all(status.pausedKinds.map((pause) => kindPausedText(pause, ctx)))),
    lastStaleLookAt === null ? null : server.staleLook(aboutMoment(lastStaleLookAt, setting)),
    server.kinds(worker.kinds),
    server.work(facts.running, facts.pending),
    server.stuck(facts.blocked, facts.unknown),
    audit === null ? server.noAudit : server.audit(aboutMoment(audit.at, setting), audit.findings),
    server.database(bytes(facts.databaseBytes ?? 0)),
    secrets === null || secrets.unreadable === 0 ? null : server.lostKey(secrets.unreadable),
    secrets === null || secrets.former === 0 ? null : server.formerKey(secrets.former),
    ...alarms.open.map(({ since, facts: { cause } }) => server.alarm(cause, aboutMoment(since, setting))),
    alarms.unheard.length === 0 ? null : server.unheard(alarms.unheard.length),
  );
}

function processLines({ lastTickAt, worker, processes, pausedSince }: ServerStatus, setting: Setting) {
  const { server } = texts;
  // In a process that only hears people no loop turns.
  const isTurning = lastTickAt !== null || !worker.isElsewhere;
  const others = processes === null || processes.length < 2 ? [] : processes;
  return [
    isTurning ? server.tick(lastTickAt === null ? null : aboutMoment(lastTickAt, setting)) : null,
    pausedSince === null ? server.worker(worker.isRunning) : null,
    ...others.map(({ role, host, pid, release }) => server.process(role, `${host}, ${pid}`, release)),
  ];
}

async function kindPausedText({ kind, since, by }: KindPause, ctx: ChatContext): Promise<string> {
  return texts.server.kindPaused(kind, aboutMoment(since, settingHere(ctx)), await calledOf(ctx, by));
}

/** `/pause kind http` and `/resume kind http`, for owners; null where something else is meant. */
export async function kindCommand(ctx: ChatContext, deed: 'pause' | 'resume'): Promise<Answer | null> {
  const kind = /^kinds?\s+(?<kind>\S+)$/i.exec(ctx.args.trim())?.groups?.['kind']?.toLowerCase();
  if (kind === undefined) return null;
  const { person, kindPauses } = ctx;
  const isOwner = person.isOwner;
  if (!(await kindPauses.isKnown(kind))) {
    // A task may be called so.
    if (!isOwner || (await calledAlone(ctx, ctx.args)) !== null) return null;
    throw new Refused(answer(texts.server.kindUnknown(kind, ctx.kinds.forms.map((form) => form.kind).toSorted())));
  }
  if (!isOwner) throw new Refused(answer(texts.access.ownersOnly));
  const { pause, entryId } = await kindPauses[deed](kind, { actor: person.actor });
  if (pause !== null) return answer(await kindPausedText(pause, ctx));
  return answer(entryId === null ? texts.server.kindNotPaused(kind) : texts.server.kindGoesOn(kind));
}

function bytes(count: number): string {
  const [kilo, mega] = [1024, 1024 * 1024];
  return count < mega ? `${Math.ceil(count / kilo)} KB` : `${(count / mega).toFixed(1)} MB`;
}
