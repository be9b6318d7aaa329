import type { Preview } from '../../../app/preview.ts';
import type { Refusal } from '../../../domain/schedule/schedule.ts';
import { titleFrom } from '../../../domain/task.ts';
import type { Button, Drawn } from '../../../domain/shown.ts';
import { button, dataOf, shortId } from '../buttons/press.ts';
import { clockIn, moments, wordsOf } from './clock.ts';
import { drawn } from './drawing.ts';
import { blocks, lines, type Rich } from './rich.ts';
import { texts } from './texts.ts';

/** A task that is not made yet, as it is shown before it is. */
export interface Proposal {
  readonly draftId: string;
  readonly text: string;
  readonly preview: Preview;
  readonly now: number;
  /** The zone of the chat, and whether this person may confirm it when nobody has. */
  readonly zone: { readonly name: string; readonly isConfirmed: boolean; readonly maySet: boolean };
  /** Null where topics are on, or nothing is known against them. */
  readonly topicsOff: 'private' | 'group' | null;
  /** What comes before it: that an earlier draft was dropped. */
  readonly before?: Rich | null;
  /** Why it could not be created as it is. */
  readonly fault?: Rich | null;
  readonly offersPlain?: boolean;
}

export function proposalDrawn(proposal: Proposal): Drawn {
  const { preview, now } = proposal;
  const { schedule } = preview;
  const { making } = texts;
  const title = titleFrom(proposal.text);
  const words = blocks(
    proposal.before ?? null,
    lines(
      making.preview(title),
      wordsOf(schedule, now),
      zoneLine(proposal),
      preview.next.length === 0
        ? making.nothingToRun
        : texts.task.next(moments(preview.next.slice(0, 3), { timezone: schedule.timezone, now })),
      ...preview.warnings.filter((one) => !isRefusal(one)).map(({ message }) => making.note(message)),
      proposal.topicsOff === null ? null : making.note(making.topicsOff[proposal.topicsOff]),
      proposal.text.trim() === title ? null : making.text(proposal.text),
    ),
    faultOf(proposal),
    asksZone(proposal) ? making.isItNow(clockIn(proposal.zone.name, now)) : null,
  );
  return drawn(words, proposalButtons(proposal));
}

/** What creation would refuse is calculated all the same, and stands among the warnings. */
const refusals: ReadonlySet<string> = new Set<Refusal['reason']>(['past', 'never', 'too_dense']);

function isRefusal({ code }: Preview['warnings'][number]): boolean {
  return refusals.has(code);
}

function faultOf({ preview, fault }: Proposal): Rich | null {
  const refused = preview.warnings.find(isRefusal);
  return refused === undefined ? (fault ?? null) : texts.making.refused(refused.message);
}

function zoneLine({ zone, preview: { schedule } }: Proposal): string {
  const { making } = texts;
  const unset = !zone.isConfirmed && !zone.maySet && schedule.timezone === zone.name;
  return unset ? making.zoneUnset(schedule.timezone) : making.zone(schedule.timezone);
}

/** Whoever named a zone has said it already. */
function asksZone({ zone, preview: { schedule } }: Proposal): boolean {
  return !zone.isConfirmed && zone.maySet && schedule.timezone === zone.name;
}

function proposalButtons(proposal: Proposal): (Button | null)[][] {
  const { button: words } = texts;
  const id = shortId(proposal.draftId);
  const canCreate = proposal.offersPlain !== true && !proposal.preview.warnings.some(isRefusal);
  const create = canCreate ? button(words.create, dataOf('create', id)) : null;
  return [
    asksZone(proposal) ? [button(words.yes, dataOf('zoneyes', id)), button(words.noChange, dataOf('zones'))] : [],
    proposal.offersPlain === true ? [button(words.asPlain, dataOf('plain', id))] : [],
    [create, button(words.changeTime, dataOf('retime', id)), button(words.cancel, dataOf('cancel', id))],
  ];
}
