import { describe } from 'vitest';
import type { OpenWorld } from '../support/store-worlds.ts';
import { admissionTests } from './conformance/admission.ts';
import { endTests } from './conformance/ends.ts';
import { outboxTests, partEndTests } from './conformance/outbox.ts';
import { runTests } from './conformance/runs.ts';
import { slotTests } from './conformance/slots.ts';

/** What every engine must give, method by method. The three files that call it differ in the engine alone. */
export function conformance(open: OpenWorld): void {
  describe('slots', () => slotTests(open));
  describe('admission', () => admissionTests(open));
  describe('runs', () => runTests(open));
  describe('ends', () => endTests(open));
  describe('outbox', () => outboxTests(open));
  describe('ends of parts and topics', () => partEndTests(open));
}
