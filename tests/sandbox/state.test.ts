import { expect, test } from 'vitest';
import { State } from '../../src/sandbox/world/state.ts';
import { manualTime, memoryLog } from '../support/fakes.ts';
import { lab, start } from './lab.ts';

function openState() {
  const log = memoryLog();
  return { log, state: new State({ file: ':memory:', clock: manualTime(start), log }) };
}

test('what fails in the middle is taken back, and nobody hears of it', () => {
  const { state } = openState();
  const heard: string[] = [];
  state.watch(({ kind }) => heard.push(kind));
  state.transact(() => state.addLine(lab, 'first'));
  const failing = () =>
    state.transact(() => {
      state.addLine(lab, 'second');
      state.count('mailbox');
      state.tell('message', lab);
      state.afterwards(() => heard.push('afterwards'));
      throw new Error('in the middle');
    });
  expect(failing).toThrow('in the middle');
  expect(state.lines.all().map(({ text }) => text)).toEqual(['first']);
  expect(state.settings.mailbox).toBe(0);
  state.transact(() => state.addLine(lab, 'third'));
  expect(state.lines.all().map(({ seq, text }) => [seq, text])).toEqual([
    [1, 'first'],
    [2, 'third'],
  ]);
  expect(heard).toEqual([]);
});

test('a listener that fails is reported, and the others hear all the same', () => {
  const { state, log } = openState();
  const heard: string[] = [];
  state.watch(() => {
    throw new Error('no ear');
  });
  state.watch(({ kind }) => heard.push(kind));
  state.transact(() => state.tell('chat', lab));
  expect(heard).toEqual(['chat']);
  expect(log.lines.map(({ event }) => event)).toEqual(['sandbox.listener_failed']);
});

test('the oldest rows give way to new ones', () => {
  const { state } = openState();
  state.transact(() => {
    for (let n = 0; n < 2100; n += 1) {
      state.addCall({ at: n, method: 'getMe', params: {}, status: 200, answer: 'ok', fault: null });
    }
  });
  const calls = state.calls.all();
  expect([calls.length, calls[0]?.seq, calls.at(-1)?.seq]).toEqual([2000, 101, 2100]);
});
