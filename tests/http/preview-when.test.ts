import { describe, expect, it } from 'vitest';
import { aDoor, cron } from './door.ts';

const path = '/v1/schedules/preview';
const when = 'every weekday at 9:00 stand up';

async function asked(body: unknown) {
  const { status, text } = await aDoor().ask('POST', path, body);
  return { status, answer: JSON.parse(text) as Record<string, unknown> };
}

async function refused(body: unknown) {
  const { status, json } = await aDoor().ask('POST', path, body);
  return [status, json.error.code, json.error.details?.['field'], json.error.message];
}

describe('a preview of plain words', () => {
  it('shows the schedule, the text and the next runs in the zone', async () => {
    const { status, answer } = await asked({ when, timezone: 'Europe/Madrid', count: 2 });
    expect(status).toBe(200);
    expect(answer).toEqual({
      next: ['2026-11-19T08:00:00.000Z', '2026-11-20T08:00:00.000Z'],
      description: 'every weekday at 09:00',
      min_gap_seconds: 86_400,
      warnings: [],
      warning_details: [],
      schedule: {
        kind: 'cron',
        once_at: null,
        cron: '0 9 * * 1-5',
        rrule: null,
        interval: null,
        start_at: null,
        from: null,
        timezone: 'Europe/Madrid',
      },
      text: 'stand up',
      policies: {},
      timezone: 'Europe/Madrid',
      assumed: [],
      for_whom: null,
    });
  });

  it('tells what the words ask for beside the time', async () => {
    const { answer } = await asked({ when: 'every day at 8 until done in Asia/Tokyo: Take the pill', timezone: 'UTC' });
    expect(answer).toMatchObject({
      text: 'Take the pill',
      timezone: 'Asia/Tokyo',
      policies: { ack: { nag_every: 'PT10M', nag_limit: 3 } },
    });
  });

  it('shows no more runs than the words count', async () => {
    const { answer } = await asked({ when: 'weekdays at 9 and weekends at 11 2 times: x', timezone: 'UTC', count: 5 });
    expect(answer).toMatchObject({ policies: { max_runs: 2 } });
    expect(answer).toHaveProperty('next.length', 2);
  });

  it('takes the zone that the words name', async () => {
    const { answer } = await asked({ when: 'tomorrow 9:00 America/New_York call', timezone: 'Europe/Madrid' });
    expect(answer).toMatchObject({
      next: ['2026-11-19T14:00:00.000Z'],
      timezone: 'America/New_York',
      text: 'call',
      schedule: { kind: 'once', once_at: '2026-11-19T14:00:00.000Z', timezone: 'America/New_York' },
    });
  });

  it('counts from the now that is sent', async () => {
    const { answer } = await asked({ when: 'tomorrow 8am', timezone: 'UTC', now: '2027-06-30T12:00:00+02:00' });
    expect(answer).toMatchObject({ next: ['2027-07-01T08:00:00.000Z'], text: '' });
  });

  it('says in a warning what creation would refuse', async () => {
    const { status, answer } = await asked({ when: 'every 10 seconds hurry', timezone: 'UTC' });
    expect(status).toBe(200);
    expect(answer).toMatchObject({ warning_details: [{ code: 'too_dense' }], text: 'hurry', min_gap_seconds: 10 });
  });

  it('refuses what it cannot read, with what can be written instead', async () => {
    const { status, json } = await aDoor().ask('POST', path, { when: 'hello', timezone: 'UTC' });
    expect(status).toBe(400);
    expect(json.error.code).toBe('invalid_schedule');
    expect(json.error.details).toEqual({
      field: 'when',
      reason: 'unknown',
      examples: ['in 20 minutes', 'tomorrow at 8am', 'every weekday at 9:00'],
    });
    expect(json.error.message).toContain('"every weekday at 9:00"');
  });

  it('asks which of two readings is meant, and for what is missing', async () => {
    const sent = { timezone: 'Europe/Madrid', now: '2026-11-18T10:00:00Z' };
    const two = await aDoor().ask('POST', path, { ...sent, when: 'next friday at 9 dentist' });
    expect([two.status, two.json.error.code]).toEqual([400, 'ambiguous_schedule']);
    expect(two.json.error.details).toEqual({
      field: 'when',
      readings: [
        { text: 'Fri 20 Nov', next: '2026-11-20T08:00:00.000Z', when: 'on 2026-11-20 at 9 dentist' },
        { text: 'Fri 27 Nov', next: '2026-11-27T08:00:00.000Z', when: 'on 2026-11-27 at 9 dentist' },
      ],
    });
    const half = await aDoor().ask('POST', path, { ...sent, when: 'every week at 9 bins' });
    expect([half.status, half.json.error.code]).toEqual([400, 'incomplete_schedule']);
    expect(half.json.error.details).toMatchObject({
      missing: ['day'],
      sofar: 'every week at 9',
      offers: [{ text: 'Monday', when: 'every week at 9 on monday bins' }, {}, {}],
    });
  });

  it('says what it assumed, with the other reading', async () => {
    const { answer } = await asked({ when: 'dentist tuesday at 3', timezone: 'Europe/Madrid', count: 1 });
    expect([answer['text'], answer['assumed']]).toEqual([
      'dentist',
      [{ what: 'hour', text: '15:00', other: { text: '03:00', when: 'dentist tuesday at 03:00' } }],
    ]);
  });

  it.each([
    ['nothing', {}, undefined, 'Send either schedule, or when and timezone.'],
    ['both', { schedule: cron, when, timezone: 'UTC' }, 'when', 'when: send either schedule or when, not both.'],
    ['no zone', { when }, 'timezone', 'timezone: it is missing.'],
    [
      'an unknown zone',
      { when, timezone: 'Mars/Base' },
      'timezone',
      'timezone: it is not a time zone; write its IANA name, such as Europe/Madrid.',
    ],
    [
      'an after beside the words',
      { when, timezone: 'UTC', after: '2027-01-01T00:00:00Z' },
      'after',
      'after: it goes with schedule; with when, send now.',
    ],
    [
      'a now beside a schedule',
      { schedule: cron, now: '2027-01-01T00:00:00Z' },
      'now',
      'now: it goes with when; with schedule, send after.',
    ],
    [
      'a zone beside a schedule',
      { schedule: cron, timezone: 'UTC' },
      'timezone',
      'timezone: it goes with when; a schedule names its zone inside.',
    ],
    [
      'a now without an offset',
      { when, timezone: 'UTC', now: '2027-01-01T00:00:00' },
      'now',
      'now: it is an instant with its offset, such as 2027-01-31T09:00:00Z.',
    ],
  ])('of %s is refused', async (_what, body, field, message) => {
    expect(await refused(body)).toEqual([400, 'invalid_request', field, message]);
  });

  it('refuses words that are no text, and a text that is too long', async () => {
    expect((await refused({ when: 5, timezone: 'UTC' })).slice(0, 3)).toEqual([400, 'invalid_request', 'when']);
    const long = `every day at 9 ${'x'.repeat(16_384)}`;
    expect((await refused({ when: long, timezone: 'UTC' })).slice(0, 3)).toEqual([400, 'invalid_request', 'when']);
  });

  it('shows the normal form of a schedule too', async () => {
    const { answer } = await asked({ schedule: cron, count: 1 });
    expect(answer).toMatchObject({ schedule: { kind: 'cron', cron: '0 9 * * 1-5' } });
    expect(answer).not.toHaveProperty('text');
    expect(answer).not.toHaveProperty('timezone');
  });
});

it('a preview of a rule that names no second says which one it takes', async () => {
  const warningsOf = async (rrule: string) => {
    const { answer } = await asked({ schedule: { kind: 'rrule', rrule, timezone: 'Europe/Madrid' } });
    return (answer['warning_details'] as { code: string }[]).map(({ code }) => code);
  };
  expect(await warningsOf('FREQ=DAILY;BYHOUR=9;BYMINUTE=0')).toEqual(['second_assumed']);
  expect(await warningsOf('FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0')).toEqual([]);
});
