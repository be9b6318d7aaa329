import { expect, it } from 'vitest';
import type { Job } from '../../src/app/ports/hints.ts';
import { placesOf } from '../support/engines.ts';
import { soon } from '../support/patience.ts';
import { actor } from '../support/pipeline.ts';
import { engineConformance } from './conformance.ts';

const open = placesOf('graphile');

engineConformance(open);

it('goes on with jobs after the end of one could not be written', async () => {
  const place = await open();
  const { engine, log } = await place.worker();
  const given: Job[] = [];
  await engine.claim({ kinds: ['http'], full: () => [], cancelled: () => undefined, work: (job) => given.push(job) });
  const runsOf = (job: Job | undefined) => (job !== undefined && 'runs' in job ? job.runs : []);
  await place.offer({ runs: [{ id: 'first', kind: 'http' }] });
  await soon(() => expect(given.map(runsOf)).toEqual([['first']]));
  await place.query('alter table graphile_worker._private_jobs rename to away');
  if (given[0] !== undefined) engine.complete(given[0]);
  await soon(() => expect(log.lines.filter(({ event }) => event === 'jobs')).not.toEqual([]));
  await place.query('alter table graphile_worker.away rename to _private_jobs');
  await place.offer({ runs: [{ id: 'second', kind: 'http' }] });
  await soon(() => expect(given.map(runsOf)).toEqual([['first'], ['second']]));
  if (given[1] !== undefined) engine.complete(given[1]);
  await soon(async () => expect(await place.jobs()).toBe(0));
});

it('tells every process that a kind is paused, and that it goes on', async () => {
  const place = await open();
  const [one, other] = [await place.worker(), await place.worker()];
  const pauses = other.rooms.kindPauses;
  await one.rooms.kindPauses.pause('http', { actor });
  await soon(() => expect(pauses.paused()).toEqual(['http']));
  await one.rooms.kindPauses.resume('http', { actor });
  await soon(() => expect(pauses.paused()).toEqual([]));
});

it('starts without a warning of graphile-worker', async () => {
  const place = await open();
  const worker = await place.worker();
  await worker.start();
  expect(worker.log.lines.filter(({ event }) => event === 'jobs')).toEqual([]);
});
