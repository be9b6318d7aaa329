import type { SetUp } from '../conversation.ts';
import { lines, type Rich } from '../kit/rich.ts';
import { texts } from '../texts.ts';

/** What there is to know of a chat beside what the platform tells. */
export interface ChatStanding {
  readonly isApproved: boolean;
  readonly timezone: string;
  readonly isZoneConfirmed: boolean;
  /** What the clocks of the zone show now. */
  readonly clock: string;
}

/** How the bot stands in a private chat, and what there is to switch on. */
export function privateText({ topicsEnabled }: SetUp, bot: string): Rich {
  const { setup } = texts;
  if (topicsEnabled === null) return lines(setup.unknown);
  return lines(topicsEnabled ? setup.topicsOnPrivate : setup.topicsOffPrivate(bot));
}

/** The same in a group, as a list of what is as it should be and what is not. */
export function checklist(setUp: SetUp, chat: ChatStanding): Rich {
  const { setup } = texts;
  const { isForum, canManageTopics, readsEverything } = setUp;
  const { isApproved, isZoneConfirmed, timezone, clock } = chat;
  return lines(
    setup.title(),
    isForum ? setup.topicsOnGroup : setup.topicsOffGroup,
    ...(canManageTopics === null ? [setup.unknown] : rightLines(setUp)),
    readsEverything === null ? null : readsEverything ? setup.privacyOff : setup.privacyOn,
    isApproved ? setup.approved : setup.notApproved,
    isZoneConfirmed ? setup.zoneOk(timezone, clock) : setup.zoneOpen(timezone, clock),
    isComplete(setUp, chat) ? setup.allSet : null,
  );
}

function rightLines({ canManageTopics, canPin }: SetUp) {
  const { setup } = texts;
  return [
    canManageTopics === true ? setup.rightOk : setup.rightMissing,
    canPin === true ? setup.pinOk : setup.pinMissing,
  ];
}

function isComplete(setUp: SetUp, { isApproved, isZoneConfirmed }: ChatStanding): boolean {
  return isReady(setUp) && setUp.canPin === true && isApproved && isZoneConfirmed;
}

/** Whether a first result would find its topic. */
export function isReady({ isPrivate, isForum, topicsEnabled, canManageTopics }: SetUp): boolean {
  return isPrivate ? topicsEnabled === true : isForum && canManageTopics === true;
}
