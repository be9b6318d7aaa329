import { expect, it } from 'vitest';
import { minute } from '../support/fakes.ts';
import { freshPostgres, onPostgres } from '../support/postgres.ts';
import { bearer } from '../support/server.ts';
import { openBotApi } from './bot-api.ts';
import { createTask, metricsOf } from './page.ts';
import { aServer } from './place.ts';

it('a server on Postgres measures as one on SQLite does, and how its connections are used besides', async () => {
  const telegram = await openBotApi();
  const place = await aServer(telegram, {
    DATABASE_URL: (await freshPostgres()).url,
    ...onPostgres,
    TELEGRAM_CHATS: '1001',
  });
  await place.becomes(200);
  const schedule = { kind: 'interval', interval: 'PT1M', timezone: 'UTC' };
  await createTask(place, { instructions: 'Water the plants', schedule });
  let metrics = await metricsOf(place.server.url);
  const isUnderWay = () =>
    metrics.get('cronogram_runs_total{action="message",status="succeeded"}') === 0 ||
    metrics.get('cronogram_queue_depth{state="running",action="message"}') !== 0;
  while (isUnderWay()) {
    await place.pass(minute / 4);
    metrics = await metricsOf(place.server.url);
  }
  expect(metrics.get('cronogram_slot_claim_lateness_seconds_count{how="on_time"}')).toBeGreaterThan(0);
  expect(metrics.get('cronogram_tasks{state="active",schedule="interval",action="message"}')).toBe(1);
  expect(metrics.get('cronogram_database_bytes')).toBeGreaterThan(1_000_000);
  expect(metrics.get('cronogram_ready{part="database"}')).toBe(1);
  const used = ['in_use', 'idle', 'waiting'].map((state) =>
    metrics.get(`cronogram_database_connections{state="${state}"}`),
  );
  expect(used.every((count) => count !== undefined && count >= 0 && count <= 10)).toBe(true);
  expect(metrics.get('cronogram_processes{role="all"}')).toBe(1);
  expect(metrics.get('cronogram_processes{role="worker"}')).toBe(0);
  expect(metrics.get('cronogram_process_heartbeat_age_seconds{role="all"}')).toBeGreaterThanOrEqual(0);
  expect(metrics.get('cronogram_releases')).toBe(1);
  expect(metrics.get('cronogram_jobs_waiting')).toBeGreaterThanOrEqual(0);
  const paused = () => [...metrics.keys()].filter((name) => name.startsWith('cronogram_kind_paused_seconds'));
  expect(paused()).toEqual([]);
  const pausing = await fetch(`${place.server.url}/v1/actions/http/pause`, { method: 'POST', headers: bearer });
  expect(pausing.status).toBe(200);
  await place.pass(minute);
  metrics = await metricsOf(place.server.url);
  expect(paused()).toEqual(['cronogram_kind_paused_seconds{action="http"}']);
  // Backups of Postgres are made by its own means.
  expect([...metrics.keys()].filter((name) => name.startsWith('cronogram_backup_age'))).toEqual([]);
});
