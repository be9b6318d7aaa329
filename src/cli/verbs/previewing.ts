import type { Command } from 'commander';
import { usage } from '../faults.ts';
import { given, wholeOf } from '../options.ts';
import type { Session } from '../session.ts';
import type { AddVerb, Told } from '../verb.ts';
import { definitionFlags, readSchedule, type DefinitionOptions } from './definition.ts';
import { previewText } from './making.ts';
import { edgeOf, hostZone } from './moments.ts';

interface PreviewOptions extends DefinitionOptions {
  readonly count?: string;
  readonly after?: string;
}

export function addScheduleVerbs(schedule: Command, add: AddVerb): void {
  add<PreviewOptions>(schedule, {
    usage: 'preview [when]',
    summary: 'tell when a schedule runs, without making anything',
    about: 'A when in plain words, or one of the flags. Without --timezone it is read in the zone of this computer.',
    examples: [
      'cronogram schedule preview "last friday of the month at 17:00"',
      'cronogram schedule preview --cron "0 9 * * 1-5" --timezone Europe/Madrid',
    ],
    flags: [
      ...definitionFlags.filter(({ flags }) =>
        /^--(?:when|once-at|cron|rrule|every|start-at|from|timezone) /.test(flags),
      ),
      { flags: '--count <count>', about: 'how many runs, 1 to 100' },
      { flags: '--after <instant>', about: 'the runs after this instant (default: now)' },
    ],
    does: preview,
  });
}

async function preview(session: Session, [words]: readonly string[], options: PreviewOptions): Promise<Told> {
  if (words !== undefined && options.when !== undefined)
    throw usage('Write the when once: as the last word or with --when.');
  const { count, after, ...definition } = options;
  const when = words ?? options.when;
  const zone = options.timezone ?? hostZone();
  const from = after === undefined ? undefined : await edgeOf(session, after, zone);
  const runs = count === undefined ? undefined : wholeOf('--count', count, { min: 1, max: 100 });
  const read = when === undefined ? await readSchedule(session, definition, zone) : null;
  if (when === undefined && read === null)
    throw usage('Name a schedule: "every weekday at 9", or one of the flags such as --cron.');
  const body =
    read === null
      ? { when: when ?? '', timezone: zone, ...given({ now: from, count: runs }) }
      : { schedule: read.schedule, ...given({ after: from, count: runs }) };
  const answer = await session.client.call('previewSchedule', { body });
  return { json: answer, text: await previewText(session, answer) };
}
