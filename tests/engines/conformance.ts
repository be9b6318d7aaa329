import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/app/actions/action.ts';
import { createRunService } from '../../src/app/pipeline/run-requests.ts';
import type { RunRequest } from '../../src/domain/run.ts';
import { sha256 } from '../../src/system/ids.ts';
import { calls, withHttp } from '../support/actions.ts';
import { runInput } from '../support/builders.ts';
import type { OpenPlace, Place, Worker } from '../support/engines.ts';
import { countingIds } from '../support/fakes.ts';
import { soon } from '../support/patience.ts';
import { actor, group, hour, hourly, ingestBy, minute } from '../support/pipeline.ts';

/** Tests that each engine must pass: the files that call them differ in the engine alone. */
export function engineConformance(open: OpenPlace): void {
  describe('claim and complete', () => {
    it('runs and delivers each slot once', async () => {
      const place = await open();
      const worker = await started(place);
      await addTasks(worker, 30);
      place.pass(hour);
      worker.rooms.bell.ring('scheduler');
      await soon(() => expect(place.chat.shown.length).toBe(30));
      expect(await statuses(place)).toEqual({ succeeded: 30 });
      expect(await place.query('select run_id from attempts where attempt > 1')).toEqual([]);
      await soon(async () => expect(await place.jobs()).toBe(0));
    });

    it('starts what is asked for by a program', async () => {
      const place = await open();
      const worker = await started(place);
      await ingest(worker, {});
      await soon(async () => expect(await statuses(place)).toEqual({ succeeded: 1 }));
    });

    it('leaves places for messages, however many slow calls there are', async () => {
      const place = await open();
      const slow = calls(() => new Promise<Outcome>(() => {}));
      const worker = await started(place, { actions: withHttp(slow), settings: { RUN_CONCURRENCY: 8 } });
      for (let index = 0; index < 40; index += 1)
        await ingest(worker, { input: httpInput, idempotencyKey: `slow-${index}` });
      await soon(() => expect(slow.jobs.length).toBe(6));
      await ingest(worker, { idempotencyKey: 'quick' });
      await soon(async () => expect(await statuses(place)).toMatchObject({ succeeded: 1, running: 6 }));
      expect(slow.jobs.length).toBe(6);
    });

    it('goes on with what had no place when one becomes free', async () => {
      const place = await open();
      const answers: (() => void)[] = [];
      const made = calls(
        () => new Promise<Outcome>((resolve) => answers.push(() => resolve({ is: 'done', text: 'ok' }))),
      );
      const worker = await started(place, { actions: withHttp(made), settings: { RUN_CONCURRENCY: 4 } });
      for (let index = 0; index < 9; index += 1)
        await ingest(worker, { input: httpInput, idempotencyKey: `one-${index}` });
      for (let done = 0; done < 9; done += 1) {
        await soon(() => expect(answers.length).toBeGreaterThan(done));
        answers[done]?.();
      }
      await soon(async () => expect(await statuses(place)).toEqual({ succeeded: 9 }));
      expect(made.jobs.length).toBe(9);
    });
  });

  describe('hints', () => {
    it('finds by its row what no job has named any more, within the safety look', async () => {
      const place = await open();
      const worker = await place.worker();
      await ingest(worker, {});
      await place.loseJobs();
      await worker.rooms.runner.step(place.clock.now(), 100);
      place.pass(minute / 2);
      await worker.rooms.runner.step(place.clock.now(), 100);
      await worker.rooms.runner.idle();
      expect(await statuses(place)).toEqual({ succeeded: 1 });
    });

    it('runs once what is named twice, and nothing for what is gone', async () => {
      const place = await open();
      const made = calls();
      const worker = await place.worker({ actions: withHttp(made) });
      const { runId } = await ingest(worker, { input: httpInput });
      for (let times = 0; times < 3; times += 1)
        await place.offer({
          runs: [
            { id: runId, kind: 'http' },
            { id: 'gone', kind: 'http' },
          ],
          chats: ['gone'],
        });
      await worker.start();
      await soon(async () => expect(await statuses(place)).toEqual({ succeeded: 1 }));
      await soon(async () => expect(await place.jobs()).toBe(0));
      expect(made.jobs.length).toBe(1);
    });
  });

  describe('cancel', () => {
    it('stops a run that is under way', async () => {
      const place = await open();
      const made = calls(
        ({ signal }) =>
          new Promise<Outcome>((resolve) => {
            signal.addEventListener('abort', () => resolve({ is: 'giveUp', error: 'stopped' }));
          }),
      );
      const worker = await started(place, { actions: withHttp(made) });
      const { runId } = await ingest(worker, { input: httpInput });
      await soon(() => expect(made.jobs.length).toBe(1));
      await worker.rooms.tasks.cancelRun(runId, actor);
      await soon(async () => expect(await statuses(place)).toEqual({ cancelled: 1 }));
    });
  });

  describe('a kind that is paused', () => {
    it('lets its runs wait without keeping a job for them, and begins them at once when it goes on', async () => {
      const place = await open();
      const made = calls();
      const worker = await started(place, { actions: withHttp(made) });
      const { kindPauses } = worker.rooms;
      await kindPauses.pause('http', { actor });
      for (let index = 0; index < 30; index += 1)
        await ingest(worker, { input: httpInput, idempotencyKey: `one-${index}` });
      await ingest(worker, { idempotencyKey: 'message' });
      await soon(async () => expect(await statuses(place)).toEqual({ queued: 30, succeeded: 1 }));
      await soon(async () => expect(await place.jobs()).toBe(0));
      expect(made.jobs.length).toBe(0);
      await kindPauses.resume('http', { actor });
      await soon(async () => expect(await statuses(place)).toEqual({ succeeded: 31 }));
      expect(made.jobs.length).toBe(30);
    });

    it('says of each attempt which job named its run, where there are jobs', async () => {
      const place = await open();
      const worker = await started(place);
      await ingest(worker, {});
      await soon(async () => expect(await statuses(place)).toEqual({ succeeded: 1 }));
      const [attempt] = await place.query<{ job_id: string | null }>('select job_id from attempts');
      expect(attempt?.job_id).toEqual(worker.engine.name === 'embedded' ? null : expect.stringMatching(/^\d+$/));
      const begun = worker.log.lines.find(({ event }) => event === 'run_started');
      expect(begun?.facts?.['job_id'] ?? null).toBe(attempt?.job_id);
    });
  });

  describe('wake', () => {
    it('takes up a task that is due sooner than what was waited for', async () => {
      const place = await open();
      const worker = await started(place);
      await addTasks(worker, 1);
      const { task } = await worker.rooms.tasks.create({
        threadKey: group,
        actor,
        idempotencyKey: null,
        input: {
          instructions: 'Now',
          schedule: { kind: 'once', once_at: new Date(Date.now() + 300).toISOString(), timezone: 'UTC' },
        },
      });
      await soon(async () => expect(await runsOf(place, task.id)).toEqual([{ status: 'succeeded' }]));
    });
  });

  describe('fail', () => {
    it('runs what a process held that stops, and what one held that dies', async () => {
      const place = await open();
      const stuck = calls(() => new Promise<Outcome>(() => {}));
      const first = await started(place, { actions: withHttp(stuck), settings: { RUN_CONCURRENCY: 2 } });
      for (let index = 0; index < 6; index += 1)
        await ingest(first, { input: httpInput, idempotencyKey: `one-${index}` });
      await soon(() => expect(stuck.jobs.length).toBe(2));
      await first.kill();
      const made = calls();
      const second = await started(place, { actions: withHttp(made) });
      await first.store.letRunsGo(first.id, []).catch(() => second.store.letRunsGo(first.id, []));
      await second.engine.release([first.id]);
      second.rooms.runner.look();
      second.rooms.bell.ring('runner');
      await soon(async () => expect(await statuses(place)).toEqual({ succeeded: 6 }));
      expect(made.jobs.length).toBe(6);
      await soon(async () => expect(await place.jobs()).toBe(0));
    });
  });
}

async function started(place: Place, options?: Parameters<Place['worker']>[0]): Promise<Worker> {
  const worker = await place.worker(options);
  await worker.start();
  return worker;
}

async function addTasks({ rooms }: Worker, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    await rooms.tasks.create({
      threadKey: group,
      actor,
      idempotencyKey: null,
      input: { instructions: `Task ${index}`, schedule: hourly },
    });
}

const httpInput = {
  ...runInput,
  number: null,
  slotAt: null,
  delivers: false,
  action: { kind: 'http', url: 'https://example.org/' },
};

let services = 0;

function ingest({ rooms, store }: Worker, facts: Partial<RunRequest>) {
  const service = createRunService({
    store,
    ids: countingIds(`run${(services += 1)}`),
    digest: sha256,
    clock: { now: () => Date.now() },
    bell: rooms.bell,
    reckoning: { costsOf: () => null },
  });
  return ingestBy(service, { number: null, slotAt: null, delivers: false }, facts);
}

async function statuses(place: Place): Promise<Record<string, number>> {
  const found = await place.query<{ status: string; n: number }>(
    'select status, count(*) as n from runs group by status',
  );
  return Object.fromEntries(found.map(({ status, n }) => [status, Number(n)]));
}

function runsOf(place: Place, taskId: string) {
  return place.query(`select status from runs where task_id = '${taskId}'`);
}
