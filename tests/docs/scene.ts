import { day, lab, minute, type Bot } from '../e2e/bot.ts';

export interface Scene {
  readonly thread: number;
  /** The lines that the scene adds to the transcript of The Lab. */
  readonly dialogue: string;
}

/** The scene of the README: Ada makes a task in The Lab, its first run comes in its topic, and she presses Done. */
export async function playScene(bot: Bot): Promise<Scene> {
  const [zone] = await bot.say('ada', lab, '/tz Europe/Madrid');
  if (zone?.buttons.flat().some(({ text }) => text === 'Yes') === true) await bot.press('ada', zone, 'Yes');
  const told = linesOf(bot).length;
  const [preview] = await bot.say('ada', lab, '/new every weekday at 8:55 Standup in five minutes!');
  if (preview === undefined) throw new Error('The bot has shown no preview.');
  await bot.press('ada', preview, 'Create');
  // From ten in the morning to the minute after the first run.
  await bot.pass(day - 64 * minute);
  const thread = bot.world.topics(lab)[0]?.threadId;
  const result = bot.world.messages(lab, { thread: thread ?? 0 }).find(({ text }) => text.startsWith('Standup'));
  if (thread === undefined || result === undefined) throw new Error('The first run has brought no result.');
  await bot.press('ada', result, 'Done');
  return { thread, dialogue: linesOf(bot).slice(told).join('\n') };
}

function linesOf({ world }: Bot): readonly string[] {
  return world.transcript(lab).split('\n');
}

/** The dialogue without the task's card: its entries begin with the number of the task, and its pin says so. */
export function withoutCard(dialogue: string): string {
  const entries = dialogue.split(/\n(?=\[)/);
  return entries.filter((entry) => !/^\[[^\]]*\] Cronogram(?:(?: edits)?: #1 | pinned )/.test(entry)).join('\n');
}
