import type { ServerStatus } from '../../../app/operations/status.ts';
import type { WorkCounts } from '../../../app/ports/tasks.ts';
import { answer } from '../kit/answers.ts';
import { settingHere } from '../kit/card.ts';
import { aboutMoment, type Setting, standstill } from '../kit/clock.ts';
import { onChat, threadOf } from '../kit/guards.ts';
import { blocks, lines, type Rich } from '../kit/rich.ts';
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
    await standstill(ctx, settingHere(ctx)),
    person.isOwner ? serverStatus(await ctx.status(), settingHere(ctx)) : null,
  );
  return answer(words);
});

function chatStatus(counts: WorkCounts): Rich {
  const { server } = texts;
  return lines(server.chatTitle(), server.chatTasks(counts), server.chatWork(counts));
}

/** For owners: everything that a person would otherwise look for in several places. */
function serverStatus(status: ServerStatus, setting: Setting): Rich {
  const {
    version,
    startedAt,
    ready,
    facts,
    audit,
    alarms,
    secrets,
    lastTickAt,
    lastStaleLookAt,
    worker,
    processes,
    pausedSince,
  } = status;
  const { server } = texts;
  const { ok, ...parts } = ready;
  const unwell = Object.entries(parts).filter(([, state]) => state !== 'ok');
  return lines(
    server.title(),
    server.version(version, aboutMoment(startedAt, setting)),
    ok ? server.well : server.unwell(unwell.map(([name, state]) => `${name} (${String(state)})`).join(', ')),
    server.tasks(facts.tasks, facts.active, facts.chats),
    facts.dueSince === null ? server.onTime : server.late(facts.due, aboutMoment(facts.dueSince, setting)),
    // In a process that only hears people no loop turns.
    lastTickAt === null && worker.isElsewhere
      ? null
      : server.tick(lastTickAt === null ? null : aboutMoment(lastTickAt, setting)),
    pausedSince === null ? server.worker(worker.isRunning) : null,
    ...(processes === null || processes.length < 2
      ? []
      : processes.map(({ role, host, pid, release }) => server.process(role, `${host}, ${pid}`, release))),
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

function bytes(count: number): string {
  const [kilo, mega] = [1024, 1024 * 1024];
  return count < mega ? `${Math.ceil(count / kilo)} KB` : `${(count / mega).toFixed(1)} MB`;
}
