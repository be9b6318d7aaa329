import { afterAll, expect, test } from 'vitest';
import { patienceMs } from '../support/patience.ts';
import { createDatabase, startPostgres } from '../support/postgres-server.ts';
import { build, endAll, temporaryPlace } from './program.ts';
import { restarts } from './restart.ts';
import { openTelegram } from './telegram.ts';

const place = temporaryPlace();

afterAll(() => {
  endAll();
  place.remove();
});

test('a server outlives a crash of its Postgres, and loses and doubles nothing', async (context) => {
  const postgres = await startPostgres({ durable: true });
  const telegram = await openTelegram();
  context.onTestFinished(async () => {
    await telegram.close();
    await postgres.stop();
  });
  const { hands, url } = postgres;
  if (hands === null) return context.skip();
  const result = await restarts({
    main: await build(place.folder),
    folder: place.folder,
    databaseUrl: (await createDatabase(url)).url,
    telegram,
    hands,
    seed: 4,
    tasks: 12,
    incidents: [{ what: 'crashed', awayMs: 1000 }],
    settleMs: 1500,
    backWithinMs: patienceMs,
  });
  expect(result.breaches).toEqual([]);
  expect(result.rows.runs.length).toBeGreaterThan(10);
});
