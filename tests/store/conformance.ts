import { describe } from 'vitest';
import type { OpenWorld } from '../support/store-worlds.ts';
import { admissionTests } from './conformance/admission.ts';
import { changeTests, verbTests } from './conformance/changes.ts';
import { afterEndTests, endTests } from './conformance/ends.ts';
import { outboxTests, partEndTests } from './conformance/outbox.ts';
import { readTests, upkeepTests } from './conformance/reads.ts';
import { refusedRunTests, runTests } from './conformance/runs.ts';
import { slotTests, specialSlotTests } from './conformance/slots.ts';
import { createTests, tableTests } from './conformance/tasks.ts';

/** What every engine must give, method by method. The three files that call it differ in the engine alone. */
export function conformance(open: OpenWorld): void {
  describe('slots', () => {
    slotTests(open);
    specialSlotTests(open);
  });
  describe('admission', () => {
    admissionTests(open);
  });
  describe('runs', () => {
    runTests(open);
    refusedRunTests(open);
  });
  describe('ends of runs', () => {
    endTests(open);
    afterEndTests(open);
  });
  describe('outbox', () => {
    outboxTests(open);
  });
  describe('ends of parts, and topics', () => {
    partEndTests(open);
  });
  describe('creation', () => {
    createTests(open);
  });
  describe('tables', () => {
    tableTests(open);
  });
  describe('changes', () => {
    changeTests(open);
    verbTests(open);
  });
  describe('reads', () => {
    readTests(open);
  });
  describe('upkeep', () => {
    upkeepTests(open);
  });
}
