import { does } from '../../domain/processes/process.ts';
import type { AnswerOf } from '../client.ts';
import { exitCodes } from '../faults.ts';
import { facts, sentence, type Cell, type Column, type Fact } from '../layout.ts';
import { chosenTask, taskNames } from '../naming.ts';
import { showing, verb, type Session, type Told } from '../session.ts';
import { counted, distance, durationWords, hostZone, timesIn } from '../times.ts';
import { limitFlag, listTold, pageFlags, pageOf } from './looking.ts';
import { usageVerb } from './spending.ts';

/** The state of the server, and the verbs that keep it in order. */
export const operationVerbs = [
  verb({
    usage: 'status',
    summary: 'tell how the server stands',
    examples: ['cronogram status'],
    does: async (session) => {
      const answer = await session.client.call('getStatus', {});
      return { json: answer, text: await statusText(session, answer) };
    },
  }),
  usageVerb,
  verb({
    usage: 'audit',
    summary: 'list who did what; with --run look for what must never be',
    about: 'With --run: exit code 1 when something is found.',
    examples: ['cronogram audit --task 3', 'cronogram audit --run'],
    flags: [
      { flags: '--run', about: 'look now, and change nothing' },
      { flags: '--task <task>', about: 'what was done to one task' },
      ...pageFlags,
    ],
    does: async (session, _args, { task, run, ...page }) => {
      if (run === true) return auditNow(session);
      const query = { task_id: await chosenTask(session, task), ...pageOf(page) };
      const answer = await session.client.call('listAudit', { query });
      const { entries: rows } = answer;
      return listTold(session, {
        json: answer,
        none: 'Nobody has done anything yet.',
        rows,
        columns: auditColumns(
          session,
          await taskNames(
            session,
            rows.map((one) => one.task_id),
          ),
        ),
      });
    },
  }),
  verb({
    usage: 'reconcile',
    summary: 'show what the audit finds, and repair it with --fix',
    about: 'Exit code 1 when something is left to repair.',
    examples: ['cronogram reconcile', 'cronogram reconcile --fix'],
    flags: [{ flags: '--fix', about: 'repair what can be repaired safely' }],
    does: async (session, _args, { fix }) => {
      const asked = { body: { fix: fix === true } };
      const answer = await showing(session, lookingAtAll, () => session.client.call('reconcile', asked));
      const fixed = answer.fixed.map(({ check, id, did }) => `${check} ${id}: ${did}\n`).join('');
      const isClean = answer.findings.length === 0;
      const left = fix === true ? answer.findings.some(({ fixable }) => !fixable) : !isClean;
      const text = `${await findingsText(session, answer.findings)}${fixed}`;
      const hint =
        fix !== true && answer.findings.some(({ fixable }) => fixable)
          ? { note: 'Repair what can be repaired:\n  cronogram reconcile --fix' }
          : {};
      return { json: answer, text, exitCode: left ? exitCodes.failed : exitCodes.done, ...hint };
    },
  }),
  verb({
    usage: 'downtimes',
    summary: 'list when the server was down or could not write, and what that cost',
    examples: ['cronogram downtimes --limit 5'],
    flags: [limitFlag],
    does: async (session, _args, { limit }) => {
      const answer = await session.client.call('listDowntimes', { query: { limit: limit?.toString() } });
      const times = timesIn(hostZone(), session.clock.now());
      const count = (of: keyof Counts) => (one: Downtime) => (one.counts === null ? '?' : String(one.counts[of]));
      const columns: readonly Column<Downtime>[] = [
        { title: times.titled('FROM'), least: 16, of: ({ from }) => times.at(from) },
        { title: 'CAUSE', of: ({ cause }) => cause },
        { title: 'LASTED', of: ({ from, to }) => durationWords(Date.parse(to) - Date.parse(from)) },
        { title: 'MISSED', of: count('missed') },
        { title: 'LATE', of: count('late') },
        { title: 'ASKED', of: count('asked') },
        { title: 'SKIPPED', of: count('skipped') },
      ];
      return listTold(session, {
        json: { ...answer },
        none: 'There was no downtime.',
        rows: answer.downtimes,
        columns,
      });
    },
  }),
  verb({
    usage: 'health',
    summary: 'tell whether the server can do its work; exit code 1 when not',
    examples: ['cronogram health'],
    does: async (session) => {
      const answer = await session.client.call('isReady', {});
      const { ok, ...parts } = answer;
      const rows = Object.entries(parts).map(([part, state]): Fact => [
        part,
        cell(state === 'ok' || typeof state !== 'string', typeof state === 'string' ? state : JSON.stringify(state)),
      ]);
      const text = await facts(session.terminal, [['ready', cell(ok, ok ? 'yes' : 'no')], ...rows]);
      return { json: answer, text, exitCode: ok ? exitCodes.done : exitCodes.failed };
    },
  }),
  verb({
    usage: 'version',
    summary: 'tell the version of this program and of the server',
    examples: ['cronogram version'],
    does: async (session) => {
      const server = await session.client.call('getVersion', {});
      const json = { cli: session.version, server: server.version };
      return {
        json,
        text: await facts(session.terminal, [
          ['this program', json.cli],
          ['server', `${json.server} at ${session.client.place}`],
        ]),
      };
    },
  }),
  verb({
    usage: 'tick',
    summary: 'take up what is due now, without waiting for the server',
    examples: ['cronogram tick'],
    does: async (session) => {
      const answer = await session.client.call('tick', {});
      if (answer.elsewhere) {
        const told = 'That process does no work itself: it has told the workers to look now.';
        return { json: answer, text: await sentence(session.terminal, told) };
      }
      const words = `Taken up: ${counted(answer.scheduled, 'slot')}, ${counted(answer.started, 'run')}, ${answer.deliveries} to deliver, ${counted(answer.reminders, 'reminder')}.`;
      const failed =
        answer.failed.length === 0 ? '' : ` Failed: ${answer.failed.join(', ')}; they try again by themselves.`;
      const exitCode = answer.failed.length === 0 ? exitCodes.done : exitCodes.failed;
      return {
        json: answer,
        text: await sentence(session.terminal, words + failed),
        exitCode,
        ...(answer.more ? { note: 'Something is left to do: ask again.' } : {}),
      };
    },
  }),
];

function cell(ok: boolean, text: string): Cell {
  return { text, tone: ok ? 'good' : 'bad' };
}

type Times = ReturnType<typeof timesIn>;

function processFacts(answer: AnswerOf<'getStatus'>, times: Times): Fact[] {
  const { scheduler, processes, now, paused_kinds: kinds } = answer;
  const paused =
    scheduler.since === null
      ? null
      : { text: `paused since ${times.full(scheduler.since)}: no worker is alive`, tone: 'bad' as const };
  return [
    ['scheduler', paused],
    ...kinds.map(({ kind, since, by }): Fact => [
      'paused',
      { text: `kind ${kind} is paused since ${times.full(since)}, by ${by}: its runs wait`, tone: 'bad' },
    ]),
    ...(processes ?? []).map(({ role, host, pid, version, seen_at: seen }): Fact => [
      'process',
      `${role} on ${host}, pid ${pid}, ${version}, seen ${distance(Date.parse(seen), Date.parse(now))}`,
    ]),
  ];
}

/** A process that does no runs tells nothing of loops that it does not have. */
function workFacts(answer: AnswerOf<'getStatus'>, times: Times): Fact[] {
  const { last_tick_at: tick, last_stale_look_at: look, worker, processes } = answer;
  const own = processes?.find(({ id }) => id === worker.id);
  const isElsewhere = own !== undefined && !does(own.role, 'work');
  const running = worker.running ? 'running' : 'not running';
  return [
    ['last tick', tick === null ? (isElsewhere ? null : 'none') : times.full(tick)],
    ['stale look', look === null ? (isElsewhere ? null : 'none yet') : times.full(look)],
    ...processFacts(answer, times),
    ['worker', cell(worker.running, isElsewhere ? `${running} in other processes` : `${running}: ${worker.id}`)],
  ];
}

async function statusText({ terminal, ownClock, client }: Session, answer: AnswerOf<'getStatus'>): Promise<string> {
  const { tasks, due, runs, deliveries, audit, alarms, ready, retention, worker } = answer;
  const { database_bytes: bytes, tokens, secrets } = answer;
  const times = timesIn(hostZone(), Date.parse(answer.now));
  const { ok, ...parts } = ready;
  const faults = Object.entries(parts).filter(([, state]) => state !== 'ok' && typeof state === 'string');
  return facts(terminal, [
    ['server', `${answer.version} at ${client.place}, up ${durationWords(answer.uptime_seconds * 1000)}`],
    ['ready', cell(ok, ok ? 'yes' : `no: ${faults.map(([part, state]) => `${part} ${String(state)}`).join(', ')}`)],
    ['tasks', `${tasks.total}: ${tasks.active} active, ${tasks.paused} paused, ${tasks.completed} completed`],
    [
      'due now',
      due.count === 0
        ? 'nothing'
        : `${counted(due.count, 'task')}${due.since === null ? '' : `, since ${times.at(due.since)}`}`,
    ],
    ['next', answer.next_due_at === null ? 'none' : times.full(answer.next_due_at)],
    ['runs', `${runs.running} running, ${runs.queued} waiting`],
    ['deliveries', deliveryCell(deliveries)],
    ...workFacts(answer, times),
    ['actions', worker.action_kinds.join(', ')],
    ['chats', String(answer.chats)],
    ...(bytes === null ? [] : [['database', `${(bytes / 1_048_576).toFixed(1)} MiB`] as const]),
    ...(tokens === null || tokens.live + tokens.expired === 0
      ? []
      : [['tokens', `${tokens.live}${tokens.expired === 0 ? '' : `, and ${tokens.expired} expired`}`] as const]),
    ...secretFacts(secrets),
    ['history', `kept ${counted(retention.days, 'day')}`],
    [
      'audit',
      audit === null
        ? 'not yet'
        : cell(
            audit.findings === 0,
            `${audit.findings === 0 ? 'clean' : counted(audit.findings, 'finding')}, ${distance(Date.parse(audit.at), Date.parse(answer.now))}`,
          ),
    ],
    ...alarms.open.map(({ cause, since, about }): Fact => [
      'alarm',
      { text: `${cause}${about === null ? '' : ` (${about})`}, since ${times.about(since)}`, tone: 'bad' },
    ]),
    ['unheard', alarms.unheard.length === 0 ? null : `${alarms.unheard.join(', ')}: no private chat with the bot`],
    ['clock', clockFact(Date.parse(answer.now) - ownClock.now())],
  ]);
}

function secretFacts(secrets: AnswerOf<'getStatus'>['secrets']): Fact[] {
  if (secrets === null || secrets.sealed === 0) return [];
  const { sealed, without_key: lost, under_former_key: former } = secrets;
  if (lost > 0) return [['secrets', cell(false, `${sealed}, ${lost} without their key: cronogram doctor`)]];
  if (former > 0) return [['secrets', cell(false, `${sealed}, ${former} under a former key: cronogram secret rotate`)]];
  return [['secrets', String(sealed)]];
}

/** A sandbox may be days ahead, and then the next runs look wrong. */
function clockFact(aheadMs: number): string | null {
  if (Math.abs(aheadMs) < clockToleranceMs) return null;
  return `${durationWords(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} this computer`;
}
const clockToleranceMs = 30_000;

function deliveryCell({ pending, blocked, unknown }: AnswerOf<'getStatus'>['deliveries']): Cell {
  const text = `${pending} waiting, ${blocked} blocked, ${unknown} unknown`;
  return blocked + unknown === 0 ? { text } : { text, tone: 'warn' };
}

type Downtime = AnswerOf<'listDowntimes'>['downtimes'][number];
type Counts = NonNullable<Downtime['counts']>;
type Findings = AnswerOf<'runAudit'>['findings'];

async function findingsText({ terminal }: Session, findings: Findings): Promise<string> {
  if (findings.length === 0) return 'Everything is in order.\n';
  const words = findings.map(({ check, count, sentence: what, fixable, examples }) =>
    sentence(terminal, `${check} (${count}): ${what}${fixable ? ' It can be mended.' : ''}\n  ${examples.join(' ')}`),
  );
  return (await Promise.all(words)).join('');
}

const lookingAtAll = () => 'Looking at every row';

async function auditNow(session: Session): Promise<Told> {
  const answer = await showing(session, lookingAtAll, () => session.client.call('runAudit', {}));
  const rows = Object.values(answer.checked).reduce((sum, count) => sum + count, 0);
  const text = `${await findingsText(session, answer.findings)}${counted(rows, 'row')} looked at.\n`;
  return { json: answer, text, exitCode: answer.findings.length === 0 ? exitCodes.done : exitCodes.failed };
}

function auditColumns({ clock }: Session, taskName: (id: string) => string): readonly Column<AuditEntry>[] {
  const times = timesIn(hostZone(), clock.now());
  return [
    { title: 'ENTRY', of: (one) => one.entry_id },
    { title: times.titled('AT'), of: (one) => times.about(one.at) },
    { title: 'WHO', least: 8, of: (one) => one.actor },
    { title: 'DID', of: (one) => one.verb },
    { title: 'ABOUT', least: 13, of: (one) => (one.task_id === null ? letIn(one) : taskName(one.task_id)) },
    { title: 'STATE', isExtra: true, of: stateWords },
  ];
}

type AuditEntry = AnswerOf<'listAudit'>['entries'][number];

/** The number of somebody who was let in, or denied. */
function letIn({ before, after }: AuditEntry): string | null {
  const address = (after ?? before)?.['address'];
  return typeof address === 'string' ? address : null;
}

function stateWords({ state_before: before, state_after: after }: AuditEntry): string | null {
  return before === after ? after : `${before ?? 'none'} -> ${after ?? 'none'}`;
}
