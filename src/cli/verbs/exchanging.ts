import type { Step } from '../exchange.ts';
import { CliFault, exitCodes } from '../faults.ts';
import { sentence, table, type Column } from '../layout.ts';
import { allTasks, type Task } from '../naming.ts';
import { confirmed, showing, verb, yesFlag, type Session, type Told } from '../session.ts';
import { counted } from '../times.ts';

/** Tasks to a file and back. The code that reads and writes YAML is loaded here and nowhere else. */
export const exchangeVerbs = [
  verb({
    usage: 'export',
    summary: 'write tasks as YAML, to read them in elsewhere or again',
    about:
      'All tasks that can still run; those of one thread with --thread-key. A file is for its owner alone (mode 600).',
    examples: ['cronogram export -o tasks.yaml', 'cronogram export --thread-key cli:default'],
    flags: [{ flags: '-o, --output <file>', about: 'write to this file' }],
    does: (session, _args, { output }) => exportTasks(session, output),
  }),
  verb({
    usage: 'import <file>',
    summary: 'make and change tasks as a file says, after showing a plan',
    about:
      'A task is found by its id, else by its thread, title and subject; the same file again changes nothing. Tasks that the file does not name stay. - reads from the input. With --thread-key all tasks go to that thread.',
    examples: ['cronogram import tasks.yaml --dry-run', 'cronogram import tasks.yaml --yes'],
    flags: [{ flags: '--dry-run', about: 'only show the plan' }, yesFlag],
    does: (session, [file = ''], { dryRun = false, yes = false }) => importTasks(session, { file, isDry: dryRun, yes }),
  }),
];

async function exportTasks(session: Session, output: string | undefined): Promise<Told> {
  const { entryOf, fileText, writeTasks } = await import('../exchange.ts');
  const all = await showing(
    session,
    () => 'Reading the tasks',
    () => allTasks(session, session.namedThread),
  );
  const entries = all.filter(({ state }) => state !== 'completed').map(entryOf);
  const left = all.length - entries.length;
  const note =
    left === 0 ? '' : ` ${counted(left, 'task')} that will not run again ${left === 1 ? 'is' : 'are'} not included.`;
  const text = fileText(entries);
  const json = { cronogram: 1, tasks: entries };
  if (output === undefined) return { json, text, ...(note === '' ? {} : { note: note.trim() }) };
  writeTasks(output, text);
  const words = `${counted(entries.length, 'task')} written to ${output}.${note}`;
  return {
    json: { file: output, tasks: entries.length, left_out: left },
    text: await sentence(session.terminal, words),
  };
}

interface Wish {
  readonly file: string;
  readonly isDry: boolean;
  readonly yes: boolean;
}

async function importTasks(session: Session, { file, isDry, yes }: Wish): Promise<Told> {
  const { entriesIn, planOf, readTasks } = await import('../exchange.ts');
  const isPiped = file === '-';
  const text = isPiped ? await session.terminal.read() : readTasks(file);
  const entries = entriesIn(text, isPiped ? 'The input' : file);
  const comparing = () => `Comparing ${counted(entries.length, 'task')} with those that there are`;
  const steps = await showing(session, comparing, () => planOf(session, entries));
  const shown = await planText(session, steps);
  const isNothing = steps.every(({ does }) => does === 'skip');
  if (isDry || isNothing) {
    return {
      json: { applied: false, plan: steps.map(wireStep) },
      text: shown,
      ...(isNothing ? {} : { note: 'Nothing was changed.' }),
    };
  }
  if (!yes && session.terminal.canAsk) session.terminal.err(shown);
  await confirmed(session, { question: `${summary(steps)} Do it?`, yes });
  return apply(session, steps);
}

interface Done {
  readonly step: Step;
  readonly task: Task | null;
  readonly fault: CliFault | null;
}

/** One task that is refused does not keep the others out. */
async function apply(session: Session, steps: readonly Step[]): Promise<Told> {
  const { carryOut } = await import('../exchange.ts');
  const done: Done[] = [];
  const doing = () => `Task ${done.length + 1} of ${steps.length}`;
  await showing(session, doing, async () => {
    for (const step of steps) {
      try {
        done.push({ step, task: await carryOut(session, step), fault: null });
      } catch (error) {
        const isOver = !(error instanceof CliFault) || error.exitCode === exitCodes.away;
        if (isOver || session.interrupted.aborted) throw error;
        done.push({ step, task: null, fault: error });
      }
    }
  });
  const failed = done.filter(({ fault }) => fault !== null);
  const faults = failed.map(({ step, fault }) =>
    sentence(session.terminal, `Not done: ${step.title} (${step.does}): ${fault?.message ?? ''}`),
  );
  const text = (await Promise.all(faults)).join('') + (await sentence(session.terminal, doneWords(done)));
  const plan = done.map(({ step, task, fault }) => ({
    ...wireStep(step),
    task_id: task?.task_id ?? step.task?.task_id ?? null,
    error: fault === null ? null : { code: fault.code, message: fault.message },
  }));
  return { json: { applied: true, plan }, text, exitCode: failed.length === 0 ? exitCodes.done : exitCodes.failed };
}

function doneWords(done: readonly Done[]): string {
  const count = (does: Step['does']) => done.filter(({ step, fault }) => step.does === does && fault === null).length;
  const failed = done.filter(({ fault }) => fault !== null).length;
  const words = `${count('create')} created, ${count('update')} updated, ${count('skip')} left as they are`;
  return failed === 0 ? `${words}.` : `${words}, ${failed} refused.`;
}

function summary(steps: readonly Step[]): string {
  const count = (does: Step['does']) => steps.filter((step) => step.does === does).length;
  return `${count('create')} to create, ${count('update')} to update, ${count('skip')} as they should be.`;
}

async function planText(session: Session, steps: readonly Step[]): Promise<string> {
  const told = steps.filter(({ does }) => does !== 'skip');
  const total = await sentence(session.terminal, summary(steps));
  if (told.length === 0) return total;
  const columns: readonly Column<Step>[] = [
    { title: 'PLAN', of: ({ does }) => ({ text: does, tone: does === 'create' ? 'good' : 'warn' }) },
    { title: 'TITLE', least: 12, of: ({ title }) => title },
    { title: 'THREAD', least: 12, of: ({ thread }) => thread },
    { title: 'CHANGES', least: 8, of: ({ changes }) => Object.keys(changes).join(', ') },
  ];
  return (await table(session.terminal, columns, told)) + total;
}

function wireStep({ does, title, thread, task, changes }: Step) {
  return { action: does, title, thread_key: thread, task_id: task?.task_id ?? null, changes: Object.keys(changes) };
}
