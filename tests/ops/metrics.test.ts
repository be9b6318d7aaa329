import { afterEach, describe, expect, it } from 'vitest';
import { sample } from '../../src/app/operations/metrics.ts';
import { createMeter } from '../../src/system/meter.ts';
import { aBot, lab, minute, stopBots } from '../e2e/bot.ts';
import { createTask, labelsIn, metricsOf, pageOf } from './page.ts';

afterEach(stopBots);

describe('the page of metrics', () => {
  it('needs the token of the API, and is what Prometheus reads', async () => {
    const { server } = await aBot();
    const refused = await fetch(`${server.url}/metrics`);
    expect(refused.status).toBe(401);
    const { answer, text } = await pageOf(server.url);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    for (const line of text.split('\n')) expect(line).toMatch(/^$|^# (?:HELP|TYPE) |^[a-z_]+(?:\{.*\})? -?[\d.e+]+$/);
  });

  it('tells what ran, how late, how often it was tried, and what became of the slots', async () => {
    const bot = await aBot({ ECHO_ACTION: '1' });
    await createTask(bot, { instructions: 'Water the plants', schedule: every(5) });
    await createTask(bot, {
      instructions: 'Fails',
      schedule: every(5),
      action: { kind: 'echo', fail_attempts: 9 },
      policies: { retry: { attempts: 2, base: 'PT10S', jitter: 0 } },
    });
    await bot.pass(6 * minute);
    const metrics = await metricsOf(bot.server.url);
    expect(metrics.get('cronogram_runs_total{action="message",status="succeeded"}')).toBe(1);
    expect(metrics.get('cronogram_runs_total{action="echo",status="failed"}')).toBe(1);
    expect(metrics.get('cronogram_attempts_total{number="1",status="failed"}')).toBe(1);
    expect(metrics.get('cronogram_attempts_total{number="2",status="failed"}')).toBe(1);
    expect(metrics.get('cronogram_occurrences_total{status="succeeded",reason="none"}')).toBe(1);
    expect(metrics.get('cronogram_slot_claim_lateness_seconds_count{how="on_time"}')).toBe(2);
    expect(metrics.get('cronogram_slot_start_lateness_seconds_count{how="on_time"}')).toBe(2);
    expect(metrics.get('cronogram_attempt_duration_seconds_count{action="echo"}')).toBe(2);
    expect(metrics.get('cronogram_run_duration_seconds_count{action="echo"}')).toBe(1);
    expect(metrics.get('cronogram_run_duration_seconds_sum{action="echo"}')).toBeGreaterThanOrEqual(10);
  });

  it('tells what runs have used, and how many were left out because a budget had no room', async () => {
    const bot = await aBot({ ECHO_ACTION: '1' });
    await createTask(bot, {
      instructions: 'Spends',
      schedule: every(5),
      action: { kind: 'echo', spends: [{ kind: 'requests', quantity: 2, source: 'example.com' }] },
    });
    await bot.api('PUT', '/v1/budgets', { thread_key: 'cli:default', requests: 5, per: 'day' });
    await bot.pass(21 * minute);
    const metrics = await metricsOf(bot.server.url);
    expect(metrics.get('cronogram_usage_total{kind="requests"}')).toBe(4);
    expect(metrics.get('cronogram_occurrences_total{status="succeeded",reason="none"}')).toBe(2);
    expect(metrics.get('cronogram_occurrences_total{status="skipped",reason="budget"}')).toBe(2);
  });

  it('tells what was delivered, by which calls, and how long that took', async () => {
    const bot = await aBot();
    await bot.say('ada', lab, '/start');
    const preview = (await bot.say('ada', lab, '/new in 1 minute\nWater the plants')).at(-1);
    if (preview === undefined) throw new Error('there is no preview');
    await bot.press('ada', preview, 'Create');
    await bot.pass(2 * minute);
    const metrics = await metricsOf(bot.server.url);
    expect(metrics.get('cronogram_deliveries_total{kind="result",status="delivered"}')).toBe(1);
    expect(metrics.get('cronogram_delivery_latency_seconds_count{kind="result"}')).toBe(1);
    expect(metrics.get('cronogram_telegram_calls_total{method="createForumTopic",result="ok"}')).toBe(1);
    expect(metrics.get('cronogram_telegram_calls_total{method="sendMessage",result="ok"}')).toBeGreaterThan(1);
    expect(metrics.get('cronogram_telegram_updates_total{state="received"}')).toBeGreaterThanOrEqual(3);
    expect(metrics.get('cronogram_telegram_updates_total{state="handled"}')).toBe(
      metrics.get('cronogram_telegram_updates_total{state="received"}'),
    );
    expect(metrics.get('cronogram_inbox_depth')).toBe(0);
    expect([...metrics.keys()].filter((name) => name.includes('duration') && name.includes('getUpdates'))).toEqual([]);
  });

  it('tells of refusals of Telegram, and how long it wants us to wait', async () => {
    const bot = await aBot();
    await bot.say('ada', lab, '/start');
    bot.world.fault({ method: 'sendMessage', kind: '429', retryAfter: 300, count: 1 });
    bot.world.say({ as: 'ada', chat: lab, text: '/help' });
    await bot.drift(minute / 4);
    const metrics = await metricsOf(bot.server.url);
    expect(metrics.get('cronogram_telegram_calls_total{method="sendMessage",result="rate_limited"}')).toBe(1);
    expect(metrics.get('cronogram_telegram_hold_seconds{scope="chat"}')).toBeGreaterThan(200);
    expect(metrics.get('cronogram_telegram_held_chats')).toBe(1);
    expect(metrics.get('cronogram_deliveries_open{status="pending"}')).toBeGreaterThanOrEqual(1);
    expect(metrics.get('cronogram_delivery_setbacks_total{status="pending"}')).toBeGreaterThanOrEqual(1);
  });

  it('tells of slots that the server was down for, singly and as gaps', async () => {
    const bot = await aBot();
    await createTask(bot, { instructions: 'Dense', schedule: every(1) });
    await createTask(bot, { instructions: 'Daily', schedule: { kind: 'cron', cron: '30 9 * * *', timezone: 'UTC' } });
    const back = await bot.restart({ awayMs: 10 * 60 * minute });
    await back.pass(minute);
    const metrics = await metricsOf(back.server.url);
    expect(metrics.get('cronogram_gap_slots_total{reason="covered"}')).toBeGreaterThan(500);
    expect(metrics.get('cronogram_slot_claim_lateness_seconds_count{how="late"}')).toBe(1);
    expect(metrics.get('cronogram_slot_start_lateness_seconds_count{how="late"}')).toBe(1);
    expect(metrics.get('cronogram_slot_start_lateness_seconds_sum{how="late"}')).toBeGreaterThan(9 * 3600);
  });

  it('counts requests by the pattern of their route, and repeated ones as what they are', async () => {
    const bot = await aBot();
    const body = { instructions: 'Water the plants', schedule: every(5) };
    const first = await createTask(bot, body, { 'idempotency-key': 'k1' });
    await createTask(bot, body, { 'idempotency-key': 'k1' });
    await bot.api('GET', `/v1/tasks/${first}`);
    await bot.api('GET', '/v1/tasks/no-such-task');
    await fetch(`${bot.server.url}/wp-admin`, { method: 'PROPFIND' });
    const metrics = await metricsOf(bot.server.url);
    const route = '/v1/threads/:thread_key/tasks';
    const created = [...metrics].filter(([name]) =>
      name.startsWith(`cronogram_http_requests_total{method="POST",route="${route}"`),
    );
    expect(created.reduce((sum, [, count]) => sum + count, 0)).toBe(2);
    expect(metrics.get('cronogram_http_requests_total{method="GET",route="/v1/tasks/:task_id",status="404"}')).toBe(1);
    expect(metrics.get('cronogram_http_requests_total{method="other",route="none",status="404"}')).toBe(1);
    expect(metrics.get('cronogram_requests_deduplicated_total{via="http"}')).toBe(1);
    expect(metrics.get(`cronogram_http_request_duration_seconds_count{route="${route}"}`)).toBe(2);
  });

  it('tells what waits, how tasks stand, and what the night has done', async () => {
    const bot = await aBot();
    await createTask(bot, { instructions: 'One', schedule: every(5) });
    await createTask(bot, { instructions: 'Two', schedule: { kind: 'cron', cron: '0 9 * * *', timezone: 'UTC' } });
    expect((await metricsOf(bot.server.url)).get('cronogram_audit_age_seconds')).toBe(0);
    await bot.pass(20 * 60 * minute);
    // The chores of the night follow each other, and the copy is made in a thread of its own.
    let metrics = await metricsOf(bot.server.url);
    for (; metrics.get('cronogram_backups_total{result="made"}') !== 1; metrics = await metricsOf(bot.server.url))
      await bot.drift(5000);
    await bot.drift(5000);
    metrics = await metricsOf(bot.server.url);
    expect(metrics.get('cronogram_tasks{state="active",schedule="interval",action="message"}')).toBe(1);
    expect(metrics.get('cronogram_tasks{state="active",schedule="cron",action="message"}')).toBe(1);
    expect(metrics.get('cronogram_queue_depth{state="due",action="message"}')).toBe(0);
    expect(metrics.get('cronogram_audit_findings{check="slot_overdue"}')).toBe(0);
    expect(metrics.get('cronogram_audit_age_seconds')).toBeLessThan(3 * 3600);
    expect(metrics.get('cronogram_retention_age_seconds')).toBeLessThan(3 * 3600);
    expect(metrics.get('cronogram_retention_margin_seconds')).toBe(90 * 86_400);
    expect(metrics.get('cronogram_backup_age_seconds')).toBeLessThan(3 * 3600);
    expect(metrics.get('cronogram_backups_total{result="made"}')).toBe(1);
    expect(metrics.get('cronogram_ready{part="database"}')).toBe(1);
    expect(metrics.get('cronogram_ready{part="server"}')).toBe(1);
    expect(metrics.get('cronogram_loop_turn_age_seconds{loop="scheduler"}')).toBeLessThan(60);
    expect(metrics.get('cronogram_database_bytes')).toBeGreaterThan(100_000);
    expect(metrics.get(`cronogram_build_info{version="0.0.0",node="${process.versions.node}"}`)).toBe(1);
  });

  it('has no label that names a task, a chat, a person or a text', async () => {
    const bot = await aBot({ ECHO_ACTION: '1' });
    await bot.say('ada', lab, '/start');
    const id = await createTask(bot, { title: 'Aubergine', instructions: 'Aubergine', schedule: every(5) });
    await bot.api('POST', `/v1/tasks/${id}/run-now`);
    await bot.api('GET', `/v1/tasks?q=Aubergine`);
    await bot.pass(6 * minute);
    const { text } = await pageOf(bot.server.url);
    for (const private_ of [id, 'Aubergine', String(lab), '1001', 'telegram:']) expect(text).not.toContain(private_);
    for (const [name, value] of labelsIn(text)) {
      expect(`${name}=${value}`).toMatch(
        /^(?:le|version|node)=|^route=(?:none|\/[\w/:*.-]*)$|^method=[A-Za-z]+$|^[a-z_]+=[\w+-]+$/,
      );
      expect(value.length).toBeLessThan(60);
    }
  });
});

describe('the meter', () => {
  it('forgets how things stood when nobody tells it any more', async () => {
    const meter = createMeter({ ofProcess: false });
    expect(await meter.page([sample('audit_age_seconds', {}, 5)])).toContain('\ncronogram_audit_age_seconds 5\n');
    expect(await meter.page([sample('queue_depth', { state: 'due', action: 'http' }, 7)])).toMatch(
      /\ncronogram_queue_depth\{state="due",action="http"\} 7\n/,
    );
    const page = await meter.page([]);
    expect(page).not.toMatch(/\ncronogram_audit_age_seconds /);
    expect(page).not.toMatch(/\ncronogram_queue_depth\{/);
    expect(page).toContain('# TYPE cronogram_audit_age_seconds gauge');
  });

  it('takes a duration that a clock made negative for none', async () => {
    const meter = createMeter({ ofProcess: false });
    meter.took('slot_claim_lateness_seconds', { how: 'on_time' }, -5000);
    expect(await meter.page([])).toContain('cronogram_slot_claim_lateness_seconds_sum{how="on_time"} 0');
  });

  it('tells of the process where it is asked to', async () => {
    expect(await createMeter({ ofProcess: true }).page([])).toMatch(/\nnodejs_eventloop_lag_p99_seconds .+\n/);
    expect(await createMeter({ ofProcess: false }).page([])).not.toContain('nodejs_');
  });
});

function every(minutes: number) {
  return { kind: 'interval', interval: `PT${minutes}M`, timezone: 'UTC' };
}
