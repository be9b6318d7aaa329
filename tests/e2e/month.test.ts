import { afterEach, expect, it } from 'vitest';
import { ada, lab, mallory, stopBots } from './bot.ts';
import { aStory, awayUntil, press, say, storyText, until } from './month.ts';

afterEach(stopBots);

const home = -1001000000004;
/** Weeks of a whole server, which a busy machine may take its time for. */
const patience = 120_000;

/**
 * What a family and a team see in a month, to the letter. Whoever changes a word of the bot reads here how it sounds in a
 * chat, and renews the page with `npx vitest run tests/e2e/month.test.ts -u`.
 */
it(
  'lives with a family in Madrid through the end of summer time',
  async () => {
    const story = await aStory(home, 'Europe/Madrid', '2026-10-12 08:00');
    await say(story, 'ada', '/start', { chat: ada });
    await say(story, 'ada', '/allow');
    await press(story, 'ada', 'Yes');
    await say(story, 'ada', '/new every 2 weeks on monday 19:00 Bins out: paper and glass');
    await press(story, 'ada', 'Create');
    await say(story, 'ben', '/new every day at 8 until done Take your medication');
    await press(story, 'ben', 'Create');
    await until(story, '2026-10-12 19:10');
    await press(story, 'ben', 'Done', { under: 'Bins' });
    await say(story, 'ada', '/settings quiet 22-7');
    await until(story, '2026-10-13 08:12');
    await press(story, 'ada', 'Done', { under: 'Not done yet' });
    await say(story, 'ada', '/edit ack every 15 minutes 2 times', { topic: 'medication' });
    await until(story, '2026-10-14 10:00');
    await say(story, 'ben', 'done', { topic: 'medication', replyTo: 'Take' });
    await say(story, 'ben', '/edit #2 until 2026-10-15');
    await say(story, 'ada', '/new');
    await press(story, 'ada', 'Every week');
    await press(story, 'ada', 'Sat');
    await press(story, 'ada', 'Next');
    await say(story, 'ada', '9:30', { replyTo: 'Every Saturday' });
    await say(story, 'ada', 'Piano lesson at 10, bring the blue book', { replyTo: 'Every Saturday' });
    await press(story, 'ada', 'Create');
    await say(story, 'ada', '/next');
    await press(story, 'ada', 'Next 7 days');
    await say(story, 'ben', '/edit #3 title Piano');
    await say(story, 'ada', 'call the dentist tomorrow at 10', { chat: ada });
    await press(story, 'ada', 'Create', { chat: ada });
    await until(story, '2026-10-15 08:05');
    await press(story, 'ben', 'Done', { under: 'Take' });
    await until(story, '2026-10-15 10:01');
    await press(story, 'ada', 'Snooze', { under: 'call', chat: ada });
    await press(story, 'ada', '1 h', { chat: ada });
    await until(story, '2026-10-15 11:02');
    await say(story, 'ada', 'done', { chat: ada, topic: 'dentist', replyTo: 'call' });
    await say(story, 'ben', '/new every day at 23:00 Lock the door');
    await press(story, 'ben', 'Create');
    await until(story, '2026-10-16 07:05');
    await say(story, 'ben', '/edit #4 urgent on');
    await until(story, '2026-10-16 23:05');
    await say(story, 'ada', '/skip #3', {});
    await say(story, 'ada', '/pause all until 2026-10-23');
    await until(story, '2026-10-23 12:00');
    await say(story, 'ben', '/new every day at 02:30 Look at the oven');
    await press(story, 'ben', 'Create');
    await until(story, '2026-10-24 09:31');
    await say(story, 'ada', '/edit text Piano lesson at 10, bring the red book', { topic: 'Piano' });
    await press(story, 'ada', 'Undo', { under: 'Changed' });
    await until(story, '2026-10-25 09:00');
    await say(story, 'ben', '/why yesterday', { topic: 'oven' });
    await say(story, 'ben', '/why 2026-10-25', { topic: 'oven' });
    await say(story, 'ben', '/delete #5');
    await say(story, 'ada', '/digest weekly sunday 18:00');
    await until(story, '2026-10-25 18:05');
    await say(story, 'ada', '/new every month on the 1st at 9 Rent');
    await press(story, 'ada', 'Create');
    await until(story, '2026-11-01 09:30');
    await press(story, 'ada', 'Done', { under: 'Rent' });
    await say(story, 'ada', '/edit #7 title Rent and electricity');
    await say(story, 'ada', '/history #4');
    await until(story, '2026-11-09 19:30');
    await say(story, 'ben', '/tasks');
    await say(story, 'ben', '/usage');
    await until(story, '2026-11-12 08:00');
    await expect(storyText(story)).toMatchFileSnapshot('../../fixtures/months/family.txt');
  },
  patience,
);

it(
  'lives with a team in New York through a crash, a launch and the end of daylight saving time',
  async () => {
    let story = await aStory(lab, 'America/New_York', '2026-10-12 09:00');
    await say(story, 'ada', '/allow');
    await press(story, 'ada', 'Yes');
    await say(story, 'ada', '/new every weekday at 9:30 Stand-up in five minutes');
    await press(story, 'ada', 'Create');
    await say(story, 'ben', '/new every friday at 16:00 Announcement: what we ship next week');
    await press(story, 'ben', 'Create');
    await say(story, 'ada', '/edit #2 approval on');
    await until(story, '2026-10-13 09:31');
    await press(story, 'ben', 'Snooze');
    await press(story, 'ada', 'Snooze');
    await press(story, 'ada', '10 min');
    await until(story, '2026-10-13 09:45');
    await until(story, '2026-10-16 16:20');
    await press(story, 'ada', 'Deliver');
    await say(story, 'ada', '/new every day at 04:00 Are last night’s backups there?');
    await press(story, 'ada', 'Create');
    await say(story, 'ada', '/edit #3 missed ask');
    await say(story, 'ada', '/edit #3 ack every 30 minutes 2 times');
    await until(story, '2026-10-17 04:05');
    await press(story, 'ben', 'Done', { under: 'Are' });
    story = await awayUntil(story, '2026-10-19 11:00');
    await press(story, 'ben', 'Run the latest');
    await press(story, 'ada', 'Run the latest');
    await say(story, 'ben', '/why #1');
    await press(story, 'ben', 'Done', { under: 'Are' });
    await say(story, 'ada', '/edit #3 ack off');
    await say(story, 'ada', '/pause until friday', { topic: 'Stand-up' });
    await until(story, '2026-10-23 16:30');
    await press(story, 'ada', 'Discard');
    await say(story, 'ben', '/tasks announcement');
    await say(story, 'mallory', '/tasks', { chat: mallory });
    await until(story, '2026-10-30 17:00');
    await say(story, 'ada', '/new last friday of the month at 17:00 Invoices');
    await press(story, 'ada', 'Create');
    await say(story, 'ada', '/snooze #1 2 hours');
    await until(story, '2026-10-30 19:05');
    await until(story, '2026-11-01 12:00');
    await say(story, 'ada', '/why #3 2026-11-01');
    await say(story, 'ada', '/topic delete', { topic: 'Stand-up' });
    await press(story, 'ada', 'Delete the topic');
    await until(story, '2026-11-02 09:31');
    await say(story, 'ada', '/settings create admins');
    await say(story, 'ben', '/new every day at 10 Coffee');
    await say(story, 'ben', '/status');
    await until(story, '2026-11-12 09:00');
    await say(story, 'ada', '/purge');
    await expect(storyText(story)).toMatchFileSnapshot('../../fixtures/months/team.txt');
  },
  patience,
);
