import { HostFault } from '../fault.ts';
import type { HostPorts } from '../ports.ts';
import { listed, toned, wrapped, type Screen } from '../screen.ts';
import {
  ctlLine,
  journalLine,
  type Installed,
  type Planned,
  type ServiceWish,
  type Standing,
  type Uninstalled,
} from './service.ts';

/** The unit itself goes where results go, so that it can be sent to a file; what is to be said about it does not. */
export function plannedText({ unit, warnings }: Planned, screen: Screen): string {
  for (const each of warnings) screen.err(warning(each, screen));
  return unit;
}

function warning(text: string, screen: Screen): string {
  return `${toned('!', 'warn', screen)} ${wrapped(text, { columns: screen.columns, indent: 2 })}\n`;
}

export function installedText(
  { unit_file: file, is_changed: isChanged, state, warnings }: Installed,
  wish: ServiceWish,
  screen: Screen,
): string {
  const facts = listed(
    [
      ['unit', `${file}${isChanged ? '' : ', unchanged'}`],
      ['state', state],
      ['its log', journalLine(wish)],
      ['again', ctlLine(wish, 'restart')],
    ],
    screen,
  );
  return `${facts}${warnings.map((each) => warning(each, screen)).join('')}`;
}

export function standingText(standing: Standing, wish: ServiceWish, screen: Screen): string {
  const {
    unit_file: file,
    state,
    pid,
    since,
    restarts,
    exit_status: exit,
    starts_at_boot: boots,
    is_up_to_date: fresh,
  } = standing;
  return listed(
    [
      ['state', state],
      ...(pid === null ? [] : [['process', `${pid}${since === null ? '' : `, since ${since}`}`] as const]),
      ...(exit === null || exit === 0
        ? []
        : [['ended with', `${exit}${exit === 78 ? ': the configuration is wrong' : ''}`] as const]),
      ['restarts', String(restarts)],
      ['at boot', boots ? 'it is started' : `it is not started: ${ctlLine(wish, 'enable')}`],
      [
        'unit',
        `${file}${fresh === false ? '; an installation now would write another one: cronogram service install' : ''}`,
      ],
      ['its log', journalLine(wish)],
    ],
    screen,
  );
}

export function uninstalledText({ removed, data, is_data_removed: isGone }: Uninstalled, screen: Screen): string {
  const files = data.length === 0 ? 'there is none here' : data.join(', ');
  return listed(
    [
      ['removed', removed],
      [isGone ? 'data, removed' : 'data, kept', files],
      ['kept', '.env, with the token of the bot'],
    ],
    screen,
  );
}

interface Purge {
  readonly isPurge: boolean;
  readonly isAgreed: boolean;
  readonly files: readonly string[];
}

/** What cannot be taken back is asked twice. */
export async function agreeToPurge(
  { asking }: HostPorts,
  { isPurge, isAgreed, files }: Purge,
  screen: Screen,
): Promise<boolean> {
  if (!isPurge) return false;
  if (isAgreed) return true;
  if (!screen.canAsk)
    throw new HostFault(
      'usage',
      'This removes all tasks and their history. Add --yes, because there is nobody here to ask.',
    );
  screen.err(`\n${listed([['removes', files.join('\n') || 'nothing: there is no data here']], screen)}\n`);
  const isMeant =
    (await asking.confirm('Remove all tasks, their history and the backups?', false)) &&
    (await asking.confirm('Really? Nothing of it can be brought back.', false));
  if (isMeant) return true;
  throw new HostFault('cancelled', 'Nothing was changed.');
}
