import type { DateStyle } from '../../../domain/chat-settings.ts';
import type { Preview } from '../../../app/tasks/preview.ts';
import type { Refusal } from '../../../domain/schedule/schedule.ts';
import type { Policies } from '../../../domain/policy.ts';
import type { Button, Drawn, Media } from '../../../domain/shown.ts';
import { isBlank } from '../../../domain/task.ts';
import { button, dataOf, shortId } from '../kit/press.ts';
import { clockIn, moments, wordsOf } from '../kit/clock.ts';
import { policyLines } from '../kit/policy.ts';
import { blocks, lines, type Rich, drawn } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import { titleOf } from '../kit/drafts.ts';

/** A task that is not made yet, as it is shown before it is. */
export interface Proposal {
  readonly draftId: string;
  readonly text: string;
  readonly preview: Preview;
  /** What is sent with the text, or alone when that is blank. */
  readonly media: Media | null;
  readonly policies: Policies;
  /** A task of this chat with the same title. */
  readonly same: { readonly number: number; readonly title: string } | null;
  readonly now: number;
  readonly dates: DateStyle;
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
  const { preview, now, dates } = proposal;
  const { schedule } = preview;
  const setting = { timezone: schedule.timezone, now, dates };
  const { making } = texts;
  const title = titleOf(proposal);
  const words = blocks(
    proposal.before ?? null,
    lines(
      making.preview(title),
      wordsOf(schedule, now, dates),
      making.zone(schedule.timezone),
      preview.next.length === 0 ? making.nothingToRun : texts.task.next(moments(preview.next.slice(0, 3), setting)),
      ...preview.warnings.filter((one) => !isRefusal(one)).map(({ message }) => making.note(message)),
      proposal.media === null ? null : texts.wizard.with[proposal.media.kind],
      ...policyLines(proposal.policies, setting),
      proposal.topicsOff === null ? null : making.note(making.topicsOff[proposal.topicsOff]),
      isBlank(proposal.text) || proposal.text.trim() === title ? null : making.text(proposal.text),
    ),
    faultOf(proposal),
    sameLine(proposal),
    asksZone(proposal) ? making.isItNow(clockIn(proposal.zone.name, now)) : null,
  );
  return drawn(words, proposalButtons(proposal));
}

function sameLine({ same }: Proposal): Rich | null {
  return same === null ? null : texts.wizard.same(same.number, same.title);
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

/** Whoever named a zone has said it already. */
function asksZone({ zone, preview: { schedule } }: Proposal): boolean {
  return !zone.isConfirmed && zone.maySet && schedule.timezone === zone.name;
}

function proposalButtons(proposal: Proposal): (Button | null)[][] {
  const { button: words, wizard } = texts;
  const id = shortId(proposal.draftId);
  const { same, policies } = proposal;
  const canCreate = proposal.offersPlain !== true && !proposal.preview.warnings.some(isRefusal);
  const create = canCreate ? button(same === null ? words.create : wizard.addAnyway, dataOf('create', id)) : null;
  const edit = same === null ? null : button(wizard.editThat, dataOf('wizard', id, 'that'));
  return [
    asksZone(proposal) ? [button(words.yes, dataOf('zoneyes', id)), button(words.noChange, dataOf('zones'))] : [],
    proposal.offersPlain === true ? [button(words.asPlain, dataOf('plain', id))] : [],
    same === null ? [] : [edit, create],
    [
      same === null ? create : null,
      button(words.changeTime, dataOf('retime', id)),
      button(words.cancel, dataOf('cancel', id)),
    ],
    [
      button(wizard.changeText, dataOf('wizard', id, 'retext')),
      policies.ack === undefined ? null : button(wizard.dontAsk, dataOf('wizard', id, 'noask')),
      policies.quiet === undefined ? null : button(wizard.notUrgent, dataOf('wizard', id, 'calm')),
    ],
  ];
}
