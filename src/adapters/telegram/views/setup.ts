import type { SetUp } from '../conversation.ts';
import { lines, type Rich } from './rich.ts';
import { texts } from './texts.ts';

/** How the bot stands in a chat, and what there is to switch on. */
export function setupText(setUp: SetUp, bot: string): Rich {
  return setUp.isPrivate ? privateText(setUp, bot) : groupText(setUp);
}

function privateText({ topicsEnabled }: SetUp, bot: string): Rich {
  const { setup } = texts;
  if (topicsEnabled === null) return lines(setup.unknown);
  return lines(topicsEnabled ? setup.topicsOnPrivate : setup.topicsOffPrivate(bot));
}

function groupText({ isForum, canManageTopics, canPin }: SetUp): Rich {
  const { setup } = texts;
  if (canManageTopics === null) return lines(isForum ? setup.topicsOnGroup : setup.topicsOffGroup, setup.unknown);
  return lines(
    isForum ? setup.topicsOnGroup : setup.topicsOffGroup,
    canManageTopics ? setup.rightOk : setup.rightMissing,
    canPin === true ? setup.pinOk : setup.pinMissing,
    isForum && canManageTopics && canPin === true ? setup.allSet : null,
  );
}

/** Whether a first result would find its topic. */
export function isReady({ isPrivate, isForum, topicsEnabled, canManageTopics }: SetUp): boolean {
  return isPrivate ? topicsEnabled === true : isForum && canManageTopics === true;
}
