import { describe, expect, it } from 'vitest';
import { statusOf } from '../../src/adapters/http/errors.ts';
import { aPipeline, type Pipeline } from '../support/pipeline.ts';
import { bearer, creation, cron, type Json } from './door.ts';
import { appOver } from './pipeline-door.ts';

const seed = 20_261_118;
const requestsPerRoute = 300;

/** The same requests on every run: a fault that was found can be found again. */
function mulberry(state: number): () => number {
  let at = state;
  return () => {
    at = (at + 0x6d2b79f5) | 0;
    let mixed = Math.imul(at ^ (at >>> 15), 1 | at);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const words =
  'UTC Europe/Madrid utc Mars/Base +01:00 once cron rrule interval start completion skip all upsert message echo resend';
const instants =
  '2027-01-31T09:00:00Z 2027-02-30T09:00:00Z 0001-01-01T00:00:00Z 9999-12-31T23:59:59Z +275760-09-13 0000-00-00T00:00:00Z';
const crons = '* * * * *|0 9 * * 1-5|*/0 * * * *|0 0 30 2 *|59 59 59 59 59|@daily|0-59/7 */5 1,2,3 JAN-DEC MON#2';
const durations = 'PT1S PT15M P1M P9999Y PT0S -PT1H P1DT PT1.5H P1000000W';
const rrules =
  'FREQ=DAILY FREQ=SECONDLY;COUNT=99999 FREQ=YEARLY;BYWEEKNO=53 RRULE:FREQ=WEEKLY;BYDAY=MO FREQ= DTSTART:20270101T000000Z\nFREQ=DAILY';
const hostile = [
  '',
  ' ',
  'x',
  '\0',
  '\ud800',
  '😀'.repeat(50),
  'a'.repeat(5000),
  '__proto__',
  'constructor',
  '{{',
  '{% if %}',
  '%00',
  '../..',
];

const texts: readonly string[] = [
  hostile,
  crons.split('|'),
  ...[words, instants, durations, rrules].map((line) => line.split(' ')),
].flat();
const atoms: readonly unknown[] = [null, true, false, 0, -1, 1, 1.5, 200, 201, 1e21, -1e308, 2 ** 53, ...texts];

const names: readonly string[] = (
  'title instructions action schedule policies subject tags context enabled kind once_at cron rrule interval start_at from timezone ' +
  'missed missed_limit grace retry attempts base until max_runs priority on_existing after count limit cursor q tag state status ' +
  'thread_key __proto__ toString'
).split(' ');

function nonsense(chance: () => number) {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(chance() * from.length)] as T;
  const value = (depth: number): unknown => {
    const roll = chance();
    if (depth <= 0 || roll < 0.6) return pick(atoms);
    const size = Math.floor(chance() * 5);
    if (roll < 0.75) return Array.from({ length: size }, () => value(depth - 1));
    return Object.fromEntries(Array.from({ length: size }, () => [pick(names), value(depth - 1)]));
  };
  const schedule = () => {
    const fields: Record<string, unknown> = {
      kind: pick(['once', 'cron', 'rrule', 'interval']),
      timezone: pick(['UTC', 'Europe/Madrid', 'America/St_Johns', pick(atoms)]),
    };
    const own =
      { once: 'once_at', cron: 'cron', rrule: 'rrule', interval: 'interval' }[String(fields['kind'])] ?? 'cron';
    return {
      ...fields,
      [own]: pick(chance() < 0.8 ? texts : atoms),
      ...(chance() < 0.1 ? { [pick(names)]: value(1) } : {}),
    };
  };
  /** Nearly right is where the faults are: a sound body with some fields put out of order. */
  const body = (right: object): unknown => {
    if (chance() < 0.15) return value(4);
    const sound: Record<string, unknown> = { ...right };
    if ('schedule' in sound && chance() < 0.5) sound['schedule'] = schedule();
    if ('policies' in sound && chance() < 0.3) sound['policies'] = { [pick(names)]: value(2) };
    for (let turns = Math.floor(chance() * 2.2); turns > 0; turns -= 1)
      sound[pick(Object.keys(right).concat(pick(names)))] = value(3);
    for (const name of Object.keys(sound)) if (chance() < 0.05) Reflect.deleteProperty(sound, name);
    return sound;
  };
  const text = (right: object): string => {
    const json = JSON.stringify(body(right)) ?? '';
    const roll = chance();
    if (roll < 0.05) return json.slice(0, Math.floor(chance() * json.length));
    return roll < 0.1 ? `${'['.repeat(3000)}${json}` : json;
  };
  const query = () => {
    const one = () => `${pick(names)}=${encode(chance, String(pick(atoms)))}`;
    return chance() < 0.8 ? '' : `?${Array.from({ length: Math.ceil(chance() * 3) }, one).join('&')}`;
  };
  return { pick, text, query, segment: () => encode(chance, String(pick(atoms))) || 'x' };
}

function encode(chance: () => number, text: string): string {
  if (chance() < 0.1) return '%zz';
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '�')).slice(0, 3000);
}

const whole = { ...creation, title: 'Stand up', context: {}, policies: {}, subject: 's', tags: ['t'] };

type Route = [method: string, path: string, right?: object];

/** Each route, with a body that it takes. */
const routes: Route[] = [
  ['POST', '/v1/schedules/preview', { schedule: cron, count: 3, after: '2027-01-01T00:00:00Z' }],
  ['POST', '/v1/schedules/preview', { when: 'every day at 9 stand up', timezone: 'UTC', count: 3 }],
  ['POST', '/v1/threads/:thread_key/tasks', { ...whole, action: { kind: 'message' } }],
  ['GET', '/v1/threads/:thread_key/tasks'],
  ['GET', '/v1/tasks'],
  ['GET', '/v1/tasks/:task_id'],
  ['PATCH', '/v1/tasks/:task_id', { ...whole, enabled: true }],
  ['DELETE', '/v1/tasks/:task_id'],
  ['POST', '/v1/tasks/:task_id/run-now', {}],
  ['POST', '/v1/tasks/:task_id/pause', {}],
  ['POST', '/v1/tasks/:task_id/resume', {}],
  ['GET', '/v1/tasks/:task_id/runs'],
  ['GET', '/v1/tasks/:task_id/next'],
  ['GET', '/v1/tasks/:task_id/why'],
  ['GET', '/v1/events'],
  ['GET', '/v1/audit'],
  ['GET', '/v1/downtimes'],
  ['GET', '/v1/runs/:run_id'],
  ['POST', '/v1/tasks/:task_id/attach', { thread_key: 'telegram:chat:-1001234' }],
  ['POST', '/v1/tasks/pause', { subject: 's', tag: 't', thread_key: 'cli:default', until: '2027-01-01T00:00:00Z' }],
  ['POST', '/v1/tasks/resume', { tag: 't' }],
  ['POST', '/v1/tasks/cancel', { subject: 's' }],
  ['GET', '/v1/grants'],
  ['DELETE', '/v1/grants/:grant_id'],
  ['GET', '/v1/status'],
  ['GET', '/v1/usage'],
  ['POST', '/v1/tick', {}],
  ['POST', '/v1/audit/run', {}],
  ['POST', '/v1/reconcile', { fix: true }],
  ['GET', '/livez'],
  ['GET', '/version'],
];

function doorOf(pipeline: Pipeline) {
  return appOver(pipeline);
}

describe('nonsense', () => {
  it.each(routes)('is refused in the envelope, and never breaks %s %s', async (...[method, route, right]: Route) => {
    const pipeline = await aPipeline({ settings: { QUOTA_PER_CHAT: 5000, QUOTA_PER_USER: 5000 } });
    const app = doorOf(pipeline);
    const { pick, text, query, segment } = nonsense(mulberry(seed));
    const counts = new Map<number, number>();
    for (let sent = 0; sent < requestsPerRoute; sent += 1) {
      const known = await existing(pipeline, route);
      const path = route.replace(/:(\w+)/, (_all, name) =>
        name === 'thread_key' ? pick(['cli:default', 'cli:default', segment()]) : pick([known, known, segment()]),
      );
      const init = { method, headers: headersOf(pick), ...(right === undefined ? {} : { body: text(right) }) };
      const target = path + query();
      const response = await app.request(target, init);
      const told = (await response.json()) as Json;
      const told500 = JSON.stringify([target, init, pipeline.log.lines.at(-2)]);
      expect(response.status, told500).toBeLessThan(500);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      if (response.status >= 400) {
        expect(Object.keys(told)).toEqual(['error']);
        expect(statusOf).toHaveProperty(told.error.code);
        expect(told.error.message).not.toBe('');
      }
      counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
    }
    // Nonsense that is refused at the first look proves little: some of it has to get through.
    expect(Math.min(...counts.keys())).toBeLessThan(300);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

/** The id of something that is there, so that a request gets beyond the first look. */
async function existing(pipeline: Pipeline, route: string): Promise<string> {
  const task = await pipeline.create();
  if (route.includes(':grant_id')) {
    const query = { thread: null, ownerId: null, taskId: task.id, state: null, limit: 1, cursor: null };
    return (await pipeline.rooms.tasks.listGrants(query)).items[0]?.id ?? '';
  }
  if (!route.includes(':run_id')) return task.id;
  return (await pipeline.rooms.tasks.runNow({ taskId: task.id, actor: 'system' })).taskRun.runId ?? '';
}

function headersOf(pick: <T>(from: readonly T[]) => T): Record<string, string> {
  const type = pick(['application/json', 'application/json', 'application/json', 'application/json', 'text/plain']);
  const key: Record<string, string> = pick([{}, {}, { 'idempotency-key': 'key' }, { 'idempotency-key': 'a b' }]);
  return { ...bearer, 'content-type': type, ...key };
}
