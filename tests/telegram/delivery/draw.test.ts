import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { previewOf } from '../../../src/app/tasks/preview.ts';
import type { BlockedCause, Drawn, View } from '../../../src/domain/shown.ts';
import type { Task } from '../../../src/domain/task.ts';
import { editMenu } from '../../../src/telegram/chat/edit/view.ts';
import { choiceDrawn } from '../../../src/telegram/chat/kit/answers.ts';
import { card } from '../../../src/telegram/chat/kit/card.ts';
import { longId, parsePress } from '../../../src/telegram/chat/kit/press.ts';
import { drawn } from '../../../src/telegram/chat/kit/rich.ts';
import { proposalDrawn } from '../../../src/telegram/chat/new-task/preview.ts';
import { snoozeButtons } from '../../../src/telegram/chat/results/snoozing.ts';
import { historyDrawn } from '../../../src/telegram/chat/task/history.ts';
import { listDrawn } from '../../../src/telegram/chat/task/list.ts';
import { draw, resultDrawn, type DrawnView } from '../../../src/telegram/delivery/draw.ts';
import { scopesOf } from '../../support/actions.ts';
import { minute, start } from '../../support/pipeline.ts';
import { ada } from '../chat/talk.ts';

const taskId = '0199f3a1-7b2c-7def-8abc-0123456789ab';
const otherId = '0199f3a1-7b2c-7fff-bfff-ffffffffffff';

const neverRan = {
  lastRunId: null,
  lastRunAt: null,
  lastRunStatus: null,
  lastOutcome: null,
  skippedAt: null,
  lastError: null,
  staleAt: null,
};

function aTask(facts: Partial<Task> = {}): Task {
  return {
    id: taskId,
    number: 3,
    version: 1,
    title: 'Stand up',
    instructions: 'Stand up',
    action: { kind: 'message' },
    schedule: { kind: 'cron', cron: '0 9 * * 1-5', timezone: 'Europe/Madrid' },
    policies: {},
    subject: null,
    tags: [],
    state: 'active',
    nextAt: start,
    minGapMs: null,
    pausedReason: null,
    resumeAt: null,
    ownerId: 'telegram:user:1001',
    grantId: 'grant-1',
    chatId: 'chat-1',
    home: { provider: 'telegram', address: '-1001234', topic: null },
    topicState: 'none',
    topicId: null,
    isTopicShared: false,
    context: {},
    counters: { runs: 0, failures: 0, consecutiveFailures: 0, boundedRuns: 0 },
    ...neverRan,
    created: { at: start, by: 'telegram:user:1001' },
    updated: { at: start, by: 'telegram:user:1001' },
    paused: null,
    resumed: null,
    deleted: null,
    ...facts,
  };
}

function about(task: Task | null, next: readonly number[] = []) {
  return { task, now: start, next, timezone: 'UTC' };
}

function wordsOf(view: DrawnView, task: Task | null = aTask()): string {
  return draw(view, about(task, [start + 60 * minute]))?.text ?? '';
}

const stopped = { id: otherId, number: 3, pausedAt: start, address: '-1001' };

describe('what is drawn', () => {
  test('a result, to the letter', () => {
    const view = { view: 'result', text: '  *a* <b>\n', occurrenceId: otherId } as const;
    expect(resultDrawn(view, aTask())).toMatchObject({ text: '  *a* <b>\n' });
    expect(resultDrawn(view, null)).toEqual({ text: '  *a* <b>\n' });
    const other = resultDrawn(view, aTask({ action: { kind: 'http' } }));
    expect(other.buttons?.flat().map(({ text }) => text)).toEqual(['Run again']);
  });

  test('a failure, with when it was due and what comes next', () => {
    const view: View = { view: 'failed', runId: otherId, slotAt: start, attempts: 3, error: 'HTTP 503' };
    expect(wordsOf(view)).toBe(
      [
        'Failed: #3 Stand up',
        'Due Wed 18 Nov 10:00 (Europe/Madrid)',
        'Tried 3 times',
        '',
        'HTTP 503',
        '',
        'Next run planned: Wed 18 Nov 11:00',
      ].join('\n'),
    );
    expect(draw(view, about(null))).toBeNull();
    const labelsOf = (error: string) =>
      draw({ ...view, error }, about(aTask()))
        ?.buttons?.flat()
        .map(({ text }) => text);
    expect(labelsOf('HTTP 503')).toEqual(['Retry', 'Show error', 'Pause']);
    expect(labelsOf('interrupted, effects unknown')).toEqual(['Run again', 'Show error', 'Pause']);
  });

  test.each([
    [1, 1, 'That was its only run.'],
    [5, 5, 'That was the last of its 5 runs.'],
    [1, 3, 'That was its last planned run.'],
    [5, 7, 'That was the last of its 5 planned runs.'],
  ])('that it has run %s times as planned and %s times in all', (planned, all, words) => {
    const counters = { runs: all, failures: 0, consecutiveFailures: 0, boundedRuns: planned };
    const task = aTask({ state: 'completed', nextAt: null, counters });
    expect(wordsOf({ view: 'completed', runs: planned }, task)).toBe(`Finished: #3 Stand up. ${words}`);
  });

  test('that it works again, and that it was paused', () => {
    expect(wordsOf({ view: 'recovered', since: start, failures: 2 })).toBe(
      'Works again: #3 Stand up. It failed 2 times since Wed 18 Nov 10:00.',
    );
    const paused = aTask({
      state: 'paused',
      counters: { runs: 9, failures: 9, consecutiveFailures: 9, boundedRuns: 9 },
    });
    const view: View = { view: 'autoPaused', reason: 'auto:consecutive_failures', failures: 0, error: 'no' };
    expect(wordsOf(view, paused)).toBe(
      'Paused: #3 Stand up. Its last 9 runs failed.\n\nno\n\nIt stays paused until somebody presses Resume.',
    );
    expect(
      draw(view, about(paused))
        ?.buttons?.flat()
        .map(({ text }) => text),
    ).toEqual(['Resume', 'Show error', 'Edit']);
    expect(wordsOf({ ...view, reason: 'harmful_template' }, paused)).toContain('Its template takes too long');
  });

  test.each([
    [12, 'Your context stays: #3 Stand up'],
    [65_537, 'Context too large: #3 Stand up'],
  ])('the context of %i characters that a task does not keep', (size, words) => {
    expect(wordsOf({ view: 'contextLeft', size })).toContain(words);
    expect(draw({ view: 'contextLeft', size }, about(null))).toBeNull();
  });

  test('what is blocked, with what to do about each cause', () => {
    const causes: readonly (readonly [BlockedCause, string])[] = [
      ['topics_off', 'Open the group’s settings and switch Topics on.'],
      ['no_topic_right', 'Manage topics'],
      ['topic_closed', 'Reopen the topic'],
      ['no_write_right', 'Allow me to send messages'],
      ['chat_gone', 'Add me again'],
      ['topic_in_doubt', 'whether it exists'],
      ['other', 'CHAT_STRANGE'],
    ];
    for (const [cause, words] of causes) {
      expect(wordsOf({ view: 'blocked', cause, error: 'CHAT_STRANGE' })).toContain(words);
      expect(wordsOf({ view: 'blocked', cause, error: 'CHAT_STRANGE' }, null)).toContain(
        'A result waits: I cannot show it',
      );
    }
    const alone = aTask({ home: { provider: 'telegram', address: '1001', topic: null } });
    expect(wordsOf({ view: 'blocked', cause: 'topics_off', error: '' }, alone)).toContain('Threaded Mode');
  });

  test('doubt, topics made again, a missing pin, and chats that went and came', () => {
    expect(wordsOf({ view: 'inDoubt', deliveryId: otherId, sentAt: start })).toBe(
      'Did it arrive? Telegram did not answer when I sent a message of #3 Stand up at Wed 18 Nov 10:00.\n\nIs it above? Press what is true.',
    );
    expect(wordsOf({ view: 'topicRemade' })).toContain('Somebody deleted the topic of #3 Stand up');
    expect(wordsOf({ view: 'notPinned' })).toContain('Pin messages');
    expect(wordsOf({ view: 'chatGone', title: 'Team', paused: 2, cause: 'kicked' }, null)).toBe(
      'A chat is gone: I cannot reach Team any more (kicked).\n\nI paused 2 tasks there. When I am back, send /resume all there.',
    );
    expect(wordsOf({ view: 'chatBack', paused: 1 }, null)).toContain('I paused one task');
    expect(wordsOf({ view: 'chatBack', paused: 0 }, null)).toBe('I am back.');
  });

  test('a time of absence, with what it cost', () => {
    const view: View = {
      view: 'downtime',
      // Nobody needs to know the second.
      from: start + 2000,
      to: start + 60 * minute + 5000,
      missed: 2,
      late: 1,
      asked: 1,
      skipped: 0,
      tasks: [{ number: 3, title: 'Stand up' }],
      moreTasks: 4,
    };
    expect(wordsOf(view, null)).toBe(
      [
        'I was down from Wed 18 Nov 09:00 until Wed 18 Nov 10:00 (UTC).',
        'Runs: 1 run late, 2 missed, 1 asked about.',
        '',
        '#3 Stand up',
        'and 4 more',
        '',
        '/why explains each of them.',
      ].join('\n'),
    );
  });

  test('the same card for the same state, but for the time of which it is', () => {
    const view: View = { view: 'card' };
    const drawnAt = (now: number, task = aTask()) => draw(view, { ...about(task), now });
    const [before, later] = [drawnAt(start), drawnAt(start + minute)];
    expect(later?.buttons).toEqual(before?.buttons);
    expect(later?.text).toBe(before?.text.replace(/10:00\)$/, '10:01)'));
    expect(drawnAt(start, aTask({ version: 2 }))?.buttons).not.toEqual(before?.buttons);
  });
});

describe('the card says in words how the task stands', () => {
  const stateOf = (facts: Partial<Task>) =>
    card(aTask(facts), { now: start, next: [], mark: 'm', pauserName: 'Ada' }).text.split('\n')[1];
  const paused = { state: 'paused', nextAt: null, paused: { at: start, by: 'telegram:user:1001' } } as const;

  test.each([
    [{}, '🟢 Active · Every weekday at 09:00 (Europe/Madrid)'],
    [{ ...paused, pausedReason: 'manual' }, '⏸ Paused by Ada on Wed 18 Nov 10:00'],
    [{ ...paused, pausedReason: 'manual', resumeAt: start }, '⏸ Paused until Wed 18 Nov 10:00'],
    [
      { ...paused, pausedReason: 'auto:consecutive_failures' },
      '⏸ Paused on Wed 18 Nov 10:00, because too many runs in a row failed',
    ],
    [{ ...paused, pausedReason: 'chat_gone' }, '⏸ Paused, because this chat could not be reached'],
    [{ ...paused, pausedReason: 'auto:owner_gone' }, '⏸ Paused until its owner is back or somebody renews it'],
    [
      { ...paused, pausedReason: 'harmful_template' },
      '⏸ Paused: its template takes too long or too much memory. Make it simpler',
    ],
    [
      { ...paused, pausedReason: 'unreadable: schedule' },
      '⏸ Paused: I cannot read it any more. Give it a new time, or delete it',
    ],
    [{ state: 'completed', nextAt: null }, '🏁 Finished'],
    [{ state: 'deleted', nextAt: null, deleted: paused.paused }, '🗑 Deleted on Wed 18 Nov 10:00'],
  ] satisfies readonly (readonly [Partial<Task>, string])[])('%j', (facts, words) => {
    expect(stateOf(facts)).toBe(words);
  });
});

describe('whatever people write', () => {
  const sign = fc.constantFrom(
    '👨‍👩‍👧‍👦',
    '🏳️‍🌈',
    'é',
    'e\u0301',
    'שלום',
    '\u202eabc',
    '<b>',
    '*',
    '_',
    '`',
    '\n',
    '\r',
    '\t',
    ' ',
    'a',
    '🇪🇸',
    '{{',
    '\ud83d',
    '\u0000',
    'ﷺ',
    '𝔘',
  );
  const text = fc.array(sign, { minLength: 1, maxLength: 200 }).map((signs) => signs.join(''));
  const long = fc.array(sign, { minLength: 1, maxLength: 6000 }).map((signs) => signs.join(''));

  function sound({ text: words, entities = [], buttons = [] }: Drawn): void {
    expect(words.length).toBeLessThanOrEqual(4096);
    expect(words.trim()).not.toBe('');
    expect(words).not.toMatch(/\p{Surrogate}/u);
    for (const { offset, length } of entities) {
      expect(offset).toBeGreaterThanOrEqual(0);
      expect(length).toBeGreaterThan(0);
      expect(offset + length).toBeLessThanOrEqual(words.length);
    }
    for (const button of buttons.flat()) {
      expect(button.text.trim()).not.toBe('');
      if (!('data' in button)) continue;
      expect(Buffer.byteLength(button.data)).toBeLessThanOrEqual(64);
      expect(Buffer.byteLength(button.data)).toBeGreaterThan(0);
      expect(parsePress(button.data)).not.toBeNull();
    }
  }

  test('every view stays within the limits of the platform, and its buttons can be read again', () => {
    fc.assert(
      fc.property(text, long, fc.integer({ min: 1, max: 999_999_999 }), (title, words, number) => {
        const task = aTask({
          title,
          instructions: words,
          number,
          lastError: words,
          lastRunAt: start,
          lastRunStatus: 'failed',
        });
        const facts = { now: start, next: [start], ownerName: title, mark: 'zzzzzzzz' };
        sound(card(task, facts));
        sound(editMenu(task, facts));
        sound(
          listDrawn(
            { filter: 'all', text: title, page: 0 },
            { tasks: [task, task], total: 20, now: start, timezone: 'UTC' },
          ),
        );
        sound(choiceDrawn('Which?', [task], ({ id }) => `v1:pause:${id}`));
        sound(historyDrawn(task, { runs: [], from: null, older: null }, { timezone: 'UTC', now: start }));
        sound(drawn('x', snoozeButtons(task, otherId, { timezone: 'UTC', now: start })));
        const failed: View = { view: 'failed', runId: otherId, slotAt: start, attempts: 1, error: words };
        for (const view of [
          failed,
          { view: 'card' },
          { view: 'autoPaused', reason: 'x', failures: 1, error: words },
          { view: 'blocked', cause: 'other', error: words },
          { view: 'inDoubt', deliveryId: otherId, sentAt: start },
          { view: 'chatGone', title: words, paused: 1, cause: words },
          {
            view: 'alarm',
            since: start,
            over: null,
            facts: { cause: 'auto_pause', tasks: [{ ...stopped, title: words }] },
          },
        ] satisfies readonly View[]) {
          const shown = draw(view, about(task, [start]));
          if (shown === null) throw new Error('nothing was drawn');
          sound(shown);
        }
      }),
      { seed: 18, numRuns: 60 },
    );
  });

  test('a preview holds any text', async () => {
    const schedule = { kind: 'cron', cron: '0 9 * * *', timezone: 'UTC' } as const;
    const chat = { id: 'chat-1', address: '-1001', title: null, kind: 'supergroup', state: 'approved' } as const;
    const place = {
      chat: { ...chat, timezone: null, settings: {}, approvedBy: null },
      topic: null,
      topicTask: null,
      timezone: 'UTC',
      isZoneConfirmed: false,
      isForum: false,
    };
    const kept = {
      media: { kind: 'photo', fileId: 'AgAC' },
      policies: { ack: { nag_every: 'PT2H', nag_limit: 3 }, quiet: { mode: 'off' } },
    } as const;
    await fc.assert(
      fc.asyncProperty(long, async (text) => {
        const rooms = {
          clock: { now: () => start },
          spending: { list: async () => [] },
          kinds: {
            forms: [],
            formOf: () => undefined,
            outlook: () => null,
            secretsOf: () => [],
            scopesOf,
            changesThings: () => false,
          },
          preview: () => previewOf(schedule, { after: start, minIntervalMs: minute }),
          store: {
            taskByTitle: async () => aTask({ title: text }),
            readNote: async () => null,
            writeNote: async () => {},
          },
        };
        const when = { words: 'every day at 9', at: start, schedule, assumed: [], ways: [] };
        const step = { step: 'preview', when, text, kept } as const;
        sound(await proposalDrawn({ place, person: ada, ...rooms }, { draftId: otherId, step }));
      }),
      { seed: 18, numRuns: 60 },
    );
  });

  test('the name of a task that is bold is bold to the letter', () => {
    const title = '👨‍👩‍👧‍👦 שלום <b>';
    const { text: words, entities } = card(aTask({ title }), { now: start, next: [], mark: 'm' });
    const [bold] = entities ?? [];
    expect(words.slice(bold?.offset, (bold?.offset ?? 0) + (bold?.length ?? 0))).toBe(`#3 ${title}`);
  });
});

describe('ids on buttons', () => {
  test('are as short as they can be, and come back whole', () => {
    const shown = card(aTask(), { now: start, next: [start], mark: 'm' });
    const data = (shown.buttons ?? []).flat().map((button) => ('data' in button ? button.data : ''));
    for (const one of data) expect(longId(parsePress(one)?.args[0] ?? '')).toBe(taskId);
    expect(longId('p0001-00000001')).toBe('p0001-00000001');
    expect(longId('AAAAAAAAAAAAAAAAAAAAAA')).toBe('AAAAAAAAAAAAAAAAAAAAAA');
  });

  test('what is not of our making is no press', () => {
    for (const data of ['', 'v1', 'v1:', 'v2:run:1', 'run', 'v1:Run:1', `v1:run:${'x'.repeat(64)}`, 'v1:run:a\nb']) {
      expect(parsePress(data)).toBeNull();
    }
    expect(parsePress('v1:never-was')).toBeNull();
    expect(parsePress('v1:neverwas:1:2')).toEqual({ verb: 'neverwas', args: ['1', '2'] });
  });
});
