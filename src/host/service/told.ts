import { usage } from '../../cli/faults.ts';
import { facts, sentence } from '../../cli/layout.ts';
import { confirmed, type LocalSession, type Told } from '../../cli/session.ts';
import type { Here } from '../here.ts';
import {
  ctlLine,
  installService,
  journalLine,
  planService,
  requireSystemd,
  serviceStanding,
  uninstallService,
  type ServiceWish,
} from './service.ts';

/** The verbs of the service: what comes of each, and how it is told. */

export function printUnit(here: Here, wish: ServiceWish): Told {
  const { file, unit, warnings } = planService(here, wish);
  // The unit goes where results go, so that it can be sent to a file; what is to be said about it does not.
  const note = warnings.length === 0 ? {} : { note: warnings.map((each) => `! ${each}`).join('\n') };
  return { json: { unit_file: file, unit, warnings }, text: unit, ...note };
}

export async function install(
  { terminal }: LocalSession,
  here: Here,
  { wish, starts }: { readonly wish: ServiceWish; readonly starts: boolean },
): Promise<Told> {
  if (!here.system.hasSystemd()) terminal.err(`${planService(here, wish).unit}\n`);
  requireSystemd(here);
  const installed = await installService(here, wish, { starts });
  const { unit_file: file, is_changed: isChanged, state, warnings } = installed;
  const text = await facts(terminal, [
    ['unit', `${file}${isChanged ? '' : ', unchanged'}`],
    ['state', state],
    ['its log', journalLine(wish)],
    ['again', ctlLine(wish, 'restart')],
  ]);
  const told = await Promise.all(warnings.map((warning) => sentence(terminal, `! ${warning}`)));
  return { json: installed, text: `${text}${told.join('')}` };
}

export async function status({ terminal }: LocalSession, here: Here, wish: ServiceWish): Promise<Told> {
  const standing = await serviceStanding(here, wish);
  const { unit_file: file, state, pid, since, restarts, exit_status: exit, is_up_to_date: fresh } = standing;
  const text = await facts(terminal, [
    ['state', state],
    ['process', pid === null ? null : `${pid}${since === null ? '' : `, since ${since}`}`],
    ['ended with', exit === null || exit === 0 ? null : `${exit}${exit === 78 ? ': the configuration is wrong' : ''}`],
    ['restarts', String(restarts)],
    ['at boot', standing.starts_at_boot ? 'it is started' : `it is not started: ${ctlLine(wish, 'enable')}`],
    [
      'unit',
      `${file}${fresh === false ? '; an installation now would write another one: cronogram service install' : ''}`,
    ],
    ['its log', journalLine(wish)],
  ]);
  return { json: standing, text, exitCode: standing.is_running ? 0 : 1 };
}

interface Uninstalling {
  readonly wish: ServiceWish;
  readonly isPurge: boolean;
  readonly yes: boolean;
}

export async function uninstall(
  session: LocalSession,
  here: Here,
  { wish, isPurge, yes }: Uninstalling,
): Promise<Told> {
  const done = await uninstallService(here, wish, async (files) => {
    if (isPurge) await agreeToPurge(session, files, yes);
    return isPurge;
  });
  const text = await facts(session.terminal, [
    ['removed', done.removed],
    [done.is_data_removed ? 'data, removed' : 'data, kept', done.data.join(', ') || 'there is none here'],
    ['kept', '.env, with the token of the bot'],
  ]);
  return { json: done, text };
}

/** A purge cannot be taken back, so it is asked twice. */
async function agreeToPurge(session: LocalSession, files: readonly string[], yes: boolean): Promise<void> {
  const { terminal } = session;
  if (!yes && !terminal.canAsk)
    throw usage('This removes all tasks and their history. Add --yes, because there is nobody here to ask.');
  const list = files.join('\n') || 'nothing: there is no data here';
  if (!yes) terminal.err(`\n${await facts(terminal, [['removes', list]])}\n`);
  await confirmed(session, { question: 'Remove all tasks, their history and the backups?', yes });
  await confirmed(session, { question: 'Really? Nothing of it can be brought back.', yes });
}
