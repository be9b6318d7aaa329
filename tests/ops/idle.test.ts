import { expect, it, onTestFinished } from 'vitest';
import { openCountingDoor } from '../support/counting-door.ts';
import { clockByHand } from '../support/database-clock.ts';
import { minute, second, start } from '../support/fakes.ts';
import { freshPostgres, onPostgres } from '../support/postgres.ts';
import { openBotApi } from './bot-api.ts';
import { aServer } from './place.ts';

const webhook = {
  TELEGRAM_WEBHOOK_URL: 'https://bot.example/telegram',
  TELEGRAM_WEBHOOK_SECRET: 'a-word-of-the-tests-that-nobody-guesses',
};
const roles: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'that does everything': { ROLE: 'all' },
  'that polls': { ROLE: 'bot' },
  'that hears by webhook': { ROLE: 'bot', ...webhook },
  'that works': { ROLE: 'worker' },
  'that serves the API': { ROLE: 'api' },
};

for (const [which, role] of Object.entries(roles))
  it(`a process ${which} asks the database no more than twice in ten seconds while there is nothing to do`, async () => {
    const database = await freshPostgres();
    const clock = await clockByHand(database.url);
    await clock.set(start);
    const door = await openCountingDoor(database.url);
    const telegram = await openBotApi();
    const place = await aServer(telegram, { ...onPostgres, ...role, DATABASE_URL: door.url });
    onTestFinished(async () => {
      door.close();
      await clock.close();
    });
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += second) {
        await clock.set(place.time.now() + second);
        await place.pass(second);
      }
    };
    await pass(2 * minute);
    door.reset();
    const before = place.log.lines.length;
    await pass(10 * minute);
    const counts = new Map<string, number>();
    for (const text of door.texts()) counts.set(text.slice(0, 60), (counts.get(text.slice(0, 60)) ?? 0) + 1);
    expect(place.log.lines.slice(before).filter(({ level }) => level !== 'debug')).toEqual([]);
    // The renewals are among them, so that nothing here is counted that does not run.
    expect(door.texts().filter((text) => text.includes('update processes')).length).toBeGreaterThan(50);
    expect(door.texts().length, JSON.stringify([...counts])).toBeLessThanOrEqual((0.2 * 10 * minute) / second);
  });
