import { expect, it } from 'vitest';
import { placesOf } from '../support/engines.ts';
import { soon } from '../support/patience.ts';
import { actor } from '../support/pipeline.ts';
import { engineConformance } from './conformance.ts';

engineConformance(placesOf('graphile'));

it('tells every process that a kind is paused, and that it goes on', async () => {
  const place = await placesOf('graphile')();
  const [one, other] = [await place.worker(), await place.worker()];
  const pauses = other.rooms.kindPauses;
  await one.rooms.kindPauses.pause('http', { actor });
  await soon(() => expect(pauses.paused()).toEqual(['http']));
  await one.rooms.kindPauses.resume('http', { actor });
  await soon(() => expect(pauses.paused()).toEqual([]));
});

it('starts without a warning of graphile-worker', async () => {
  const place = await placesOf('graphile')();
  const worker = await place.worker();
  await worker.start();
  expect(worker.log.lines.filter(({ event }) => event === 'jobs')).toEqual([]);
});
