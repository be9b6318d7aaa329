import { counted, durationWords } from '../../cli/times.ts';
import { isShared } from '../../config/config.ts';
import { leaseMs } from '../../domain/processes/limits.ts';
import { does } from '../../domain/processes/process.ts';
import type { LiveProcess, UndoneKind } from '../../store/files/inspection.ts';
import { connectionsBeside } from '../../store/jobs/shared-work.ts';
import { instantText } from '../words.ts';
import { ok, warn, type Check, type Patient, type Verdict } from './finding.ts';

/** The processes that share a database on Postgres: who lives, and whether their connections fit; and what is paused for all of them. */

function alone({ settings: { config } }: Patient): string | null {
  return isShared(config) ? null : 'one process has the database for itself';
}

const processes: Check = {
  check: 'processes',
  title: 'Processes',
  leftOut: alone,
  look: ({ examined: { processes: found, undone = [] } }) => {
    if (found === undefined) return [];
    if (found.length === 0) return [ok('none runs on this database')];
    const verdicts = found.map(processVerdict);
    if (found.some(({ role, isOver }) => does(role, 'work') && !isOver))
      return [...verdicts, ...releaseVerdicts(found), ...undone.map(undoneVerdict)];
    const fix =
      'Start one: cronogram start --role worker. What came due meanwhile follows the policy missed of its task.';
    return [...verdicts, warn('No worker is alive: everything but running goes on.', fix)];
  },
};

function processVerdict({ role, release, kinds, host, pid, seenAgoMs, isOver, runs, parts }: LiveProcess): Verdict {
  const does = kinds === '' ? '' : `, ${kinds.replaceAll(',', ' ')}`;
  const hand =
    runs + parts === 0 ? '' : `, ${counted(runs, 'run')} and ${counted(parts, 'delivery', 'deliveries')} in hand`;
  const who = `${role} ${release} on ${host}, pid ${pid}${does}`;
  const seen = `seen ${durationWords(Math.max(seenAgoMs, 0))} ago`;
  if (!isOver) return ok(`${who}, ${seen}${hand}`);
  const fix = `Look after it: another process takes over what it held. Its lease is ${leaseMs / 1000} s.`;
  return warn(`${who} was ${seen} and does not renew its lease${hand}.`, fix);
}

function releaseVerdicts(found: readonly LiveProcess[]): readonly Verdict[] {
  const releases = [...new Set(found.map(({ release }) => release))].toSorted();
  if (releases.length < 2) return [];
  const text = `Different versions run side by side: ${releases.join(', ')}.`;
  return [warn(text, 'During an upgrade that is well; afterwards start the older ones again.')];
}

/** Each worker is limited to other kinds. */
function undoneVerdict({ kind, runs }: UndoneKind): Verdict {
  const text = `${counted(runs, 'run')} of ${kind} ${runs === 1 ? 'waits' : 'wait'}, and no worker that lives does this kind.`;
  return warn(text, `Name ${kind} or * in WORKER_KINDS of a worker, and start that worker again.`);
}

const pool: Check = {
  check: 'pool',
  title: 'Connections in all',
  leftOut: alone,
  look: ({ settings: { config }, examined: { processes: found = [], connectionsMax: most, lends } }) => {
    const living = found.filter(({ isOver }) => !isOver);
    if (most === undefined || living.length === 0) return [];
    // A process of an earlier version does not tell, and has the settings of this one as a rule.
    const guess = (role: LiveProcess['role']) => config.DATABASE_POOL + connectionsBeside(does(role, 'deliver'));
    const sum = living.reduce((all, { connections, role }) => all + (connections ?? guess(role)), 0);
    const text = `${counted(living.length, 'process', 'processes')} may open ${sum}, of ${most} that the server gives to others than its administrators`;
    if (sum <= most) return [ok(text)];
    if (lends === true) return [ok(`${text}; the pooler before it lends fewer`)];
    return [
      warn(
        `${text}: too few.`,
        `Lower DATABASE_POOL, raise max_connections of the server to ${Math.ceil((sum + 10) / 10) * 10} or more, or put a pooler in transaction mode before it.`,
      ),
    ];
  },
};

const kinds: Check = {
  check: 'kinds',
  title: 'Kinds of actions',
  look: ({ examined: { inspection } }) => {
    if (inspection.is !== 'sound') return [];
    const { pausedKinds } = inspection.facts;
    if (pausedKinds.length === 0) return [ok('none is paused')];
    return pausedKinds.map(({ kind, since, by }) =>
      warn(
        `${kind} is paused since ${instantText(since)}, by ${by}: its runs wait.`,
        `When it is to go on: cronogram kind resume ${kind}`,
      ),
    );
  },
};

export const processChecks: readonly Check[] = [processes, pool, kinds];
