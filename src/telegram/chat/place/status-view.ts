import type { ServerStatus } from '../../../app/operations/status.ts';
import type { ChatUsage, QuotaUsed } from '../../../app/ports/chat-facts.ts';
import type { Quota, ThreadCounts } from '../../../app/ports/tasks.ts';
import { aboutMoment, type Setting } from '../kit/clock.ts';
import { blocks, lines, type Rich } from '../kit/rich.ts';
import { texts } from '../texts.ts';

export function chatStatus(counts: ThreadCounts): Rich {
  const { server } = texts;
  return lines(server.chatTitle(), server.chatTasks(counts), server.chatWork(counts));
}

/** For owners: everything that a person would otherwise look for in several places. */
export function serverStatus({ version, startedAt, ready, facts, audit }: ServerStatus, setting: Setting): Rich {
  const { server } = texts;
  const { ok, ...parts } = ready;
  const unwell = Object.entries(parts).filter(([, state]) => state !== 'ok');
  return lines(
    server.title(),
    server.version(version, aboutMoment(startedAt, setting)),
    ok ? server.well : server.unwell(unwell.map(([name, state]) => `${name} (${String(state)})`).join(', ')),
    server.tasks(facts.tasks, facts.active, facts.chats),
    facts.dueSince === null ? server.onTime : server.late(facts.due, aboutMoment(facts.dueSince, setting)),
    server.work(facts.running, facts.pending),
    server.stuck(facts.blocked, facts.unknown),
    audit === null ? server.noAudit : server.audit(aboutMoment(audit.at, setting), audit.findings),
    server.database(bytes(facts.databaseBytes)),
  );
}

function bytes(count: number): string {
  const [kilo, mega] = [1024, 1024 * 1024];
  return count < mega ? `${Math.ceil(count / kilo)} KB` : `${(count / mega).toFixed(1)} MB`;
}

export interface UsageFacts {
  readonly today: ChatUsage;
  readonly week: ChatUsage;
  readonly month: ChatUsage;
  readonly used: QuotaUsed;
  readonly quota: Quota;
  readonly timezone: string;
}

export function usageText({ today, week, month, used, quota, timezone }: UsageFacts): Rich {
  const { usage } = texts;
  const { stretches } = usage;
  return blocks(
    usage.title(),
    lines(line(stretches.today, today), line(stretches.week, week), line(stretches.month, month)),
    lines(
      ...month.spent.map(({ kind, quantity }) => usage.spent(kind, quantity)),
      usage.quotaChat(used.inChat, quota.chat),
      usage.quotaUser(used.byUser, quota.user),
      usage.since(timezone),
    ),
  );
}

function line(stretch: string, { runs, messages, failures, isCapped }: ChatUsage): Rich {
  const told = (count: number) => (isCapped ? texts.usage.atLeast(count) : String(count));
  return texts.usage.line(stretch, { runs: told(runs), messages: told(messages), failures: told(failures) });
}
