import type { ChatUsage } from '../../../app/ports/chat-facts.ts';
import type { BudgetView } from '../../../app/ports/metering.ts';
import { DAY_MS, dayOfWall } from '../../../domain/schedule/time/calendar.ts';
import { resolveShifted, toWall } from '../../../domain/schedule/time/zone.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, ChatContext } from '../context.ts';
import { answer } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { onChat, onNamedTask, threadOf } from '../kit/guards.ts';
import { bold, blocks, lines, oneLine, type Rich } from '../kit/rich.ts';
import { texts } from '../texts.ts';

/** What a chat or a task uses, what it may use, and what it and the one who asks may still make. */

export const usageCommand = onChat('read', async (ctx) =>
  ctx.args.trim() === '' ? usageOfChat(ctx) : usageOfNamed(ctx),
);

const usageOfNamed = onNamedTask({ verb: 'usage', deed: 'read' }, async (ctx, { task }) => {
  const { usage } = texts;
  return answer(blocks(usage.titleOf(taskName(task)), await spentWords(ctx, task), await budgetWords(ctx, task)));
});

async function usageOfChat(ctx: ChatContext): Promise<Answer> {
  const { place, person, store, clock, quota } = ctx;
  const { timezone } = place;
  const day = dayOfWall(toWall(timezone, clock.now()));
  const thread = threadOf(place);
  const since = (days: number) => {
    const from = resolveShifted(timezone, (day - days) * DAY_MS);
    return store.usageOf({ thread, ownerId: null, from, to: clock.now() + 1 });
  };
  const [today, week, month] = [await since(0), await since(6), await since(29)];
  const used = await store.countQuota({ thread, ownerId: person.actor });
  const { usage } = texts;
  const { stretches } = usage;
  return answer(
    blocks(
      usage.title(),
      lines(line(stretches.today, today), line(stretches.week, week), line(stretches.month, month)),
      await spentWords(ctx, null),
      await budgetWords(ctx, null),
      lines(
        usage.quotaChat(used.chat ?? 0, quota.chat),
        usage.quotaUser(used.user ?? 0, quota.user),
        usage.since(timezone),
      ),
    ),
  );
}

/** Null where nothing was used that is counted. */
async function spentWords({ place, spending }: ChatContext, task: Task | null): Promise<Rich | null> {
  const whose = { thread: task === null ? threadOf(place) : null, ownerId: null, taskId: task?.id ?? null };
  const { today, month, ahead, top } = await spending.overview(whose, place.timezone);
  const { usage } = texts;
  if (month.length === 0) return task === null ? null : lines(usage.nothingSpent);
  return blocks(
    lines(
      today.length === 0 ? null : usage.spent('today', today),
      usage.spent('month', month),
      ahead.length === 0 ? null : usage.ahead(ahead),
    ),
    task === null && top.length > 0
      ? lines(usage.top(), ...top.map((one) => usage.topTask(nameOf(one.number, one.title), [one])))
      : null,
  );
}

function nameOf(number: number | null, title: string | null): Rich {
  return bold(number === null ? '-' : `#${number} ${oneLine(title ?? '', 40)}`);
}

async function budgetWords({ place, person, spending }: ChatContext, task: Task | null): Promise<Rich | null> {
  const all = await spending.list({ thread: threadOf(place), ownerId: null, taskId: null });
  const own = await spending.list({ thread: null, ownerId: task?.ownerId ?? person.actor, taskId: null });
  const shown = [
    ...all.filter(({ scope, account }) => scope === 'chat' || task === null || account === task.id),
    ...own,
  ];
  const { usage } = texts;
  if (shown.length === 0) return task === null ? lines(usage.noBudget()) : null;
  return lines(usage.budgets(), ...shown.map(budgetLine));
}

function budgetLine(budget: BudgetView): string {
  const { quantity, spent, reserved, number, name } = budget;
  const percent = Math.floor((100 * (spent + reserved)) / quantity);
  const called = number === null ? name : texts.task.plainName(number, name ?? '');
  return texts.usage.budget({ ...budget, name: called }, { used: spent, reserved, percent });
}

function line(stretch: string, { runs, messages, failures, isCapped }: ChatUsage): Rich {
  const told = (count: number) => (isCapped ? texts.usage.atLeast(count) : String(count));
  return texts.usage.line(stretch, { runs: told(runs), messages: told(messages), failures: told(failures) });
}
