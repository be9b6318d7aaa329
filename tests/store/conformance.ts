import { beforeAll, describe, test } from 'vitest';
import { forgetRun, neverRun } from '../support/statements.ts';
import type { OpenWorld } from '../support/store-worlds.ts';
import { accountTests } from './conformance/account.ts';
import { ackTests, approvalTests, askedTests } from './conformance/acks.ts';
import { admissionTests } from './conformance/admission.ts';
import { alarmTests } from './conformance/alarms.ts';
import { albumTests } from './conformance/albums.ts';
import { attachTests } from './conformance/attach.ts';
import { budgetAuditTests } from './conformance/audit-budgets.ts';
import { auditTests, fileAuditTests, workAuditTests } from './conformance/audit.ts';
import { blobTests, crowdedTests, snapshotTests, watchTests } from './conformance/blobs.ts';
import { boundTests } from './conformance/bounds.ts';
import { calledOffTests } from './conformance/called-off.ts';
import { cardTests } from './conformance/cards.ts';
import { changeTests, verbTests } from './conformance/changes.ts';
import { chatFactTests } from './conformance/chat-facts.ts';
import { chatRowTests } from './conformance/chat-rows.ts';
import { chatTaskTests } from './conformance/chat-tasks.ts';
import { chatTests, goneTests, moveTests } from './conformance/chats.ts';
import { credentialTests } from './conformance/credentials.ts';
import { dueTests } from './conformance/due.ts';
import { afterEndTests, endTests, repeatTests } from './conformance/ends.ts';
import { escalationTests } from './conformance/escalations.ts';
import { downtimeTests, feedTests } from './conformance/feeds.ts';
import { grantTests } from './conformance/grants.ts';
import { hostTests } from './conformance/hosts.ts';
import { draftTests, inboxTests, messageTests } from './conformance/inbox.ts';
import { keepTests } from './conformance/keep.ts';
import { keptAnswerTests } from './conformance/kept-answers.ts';
import { lateNagTests } from './conformance/late-nags.ts';
import { lightTests } from './conformance/light.ts';
import { lostClaimTests } from './conformance/lost-claims.ts';
import { noticeTests } from './conformance/notices.ts';
import { outboxTests, partEndTests } from './conformance/outbox.ts';
import { ownerGoneTests } from './conformance/owner-gone.ts';
import { leaseTests, paceTests } from './conformance/pace.ts';
import { doubtTests, guidanceTests, traceTests } from './conformance/part-words.ts';
import { pausedKindTests } from './conformance/paused-kinds.ts';
import { accessTests, peopleTests } from './conformance/people.ts';
import { pressedTests } from './conformance/pressed.ts';
import { processTests } from './conformance/processes.ts';
import { changedQuietTests, quietTests } from './conformance/quiet.ts';
import { reachTests } from './conformance/reach.ts';
import { longListTests, readTests, upkeepTests } from './conformance/reads.ts';
import { refreshTests } from './conformance/refresh.ts';
import { remainsTests, recordRetentionTests, retentionTests } from './conformance/retention.ts';
import { longRunListTests, runListTests } from './conformance/run-lists.ts';
import { refusedRunTests, runTests } from './conformance/runs.ts';
import { secretTests } from './conformance/secrets.ts';
import { seldomTests } from './conformance/seldom.ts';
import { sharedTopicTests } from './conformance/shared-topic.ts';
import { slotTests, specialSlotTests } from './conformance/slots.ts';
import { spendingLifeTests } from './conformance/spending-lives.ts';
import { spendingTests } from './conformance/spending.ts';
import { standingTests } from './conformance/standing.ts';
import { createTests, tableTests } from './conformance/tasks.ts';
import { threadRunTests } from './conformance/thread-runs.ts';
import { tokenTests } from './conformance/tokens.ts';
import { leftOverTests, setBackTests, toldTests } from './conformance/told.ts';
import { truthTests } from './conformance/truth.ts';
import { usageTests } from './conformance/usage.ts';
import { personVerbTests } from './conformance/verbs.ts';
import { workloadTests } from './conformance/workload.ts';

/** What every engine must give, method by method. The three files that call it differ in the engine alone. */
export function conformance(open: OpenWorld): void {
  beforeAll(forgetRun);
  describe('secrets', () => {
    secretTests(open);
  });
  describe('places at hosts', () => {
    hostTests(open);
  });
  describe('processes', () => {
    processTests(open);
    pausedKindTests(open);
    dueTests(open);
  });
  describe('slots', () => {
    slotTests(open);
    specialSlotTests(open);
  });
  describe('admission', () => {
    admissionTests(open);
  });
  describe('messages that stand', () => {
    standingTests(open);
  });
  describe('stale results', () => {
    refreshTests(open);
  });
  describe('the count of runs', () => {
    boundTests(open);
  });
  describe('files', () => {
    blobTests(open);
    crowdedTests(open);
  });
  describe('inputs of runs', () => {
    snapshotTests(open);
  });
  describe('the chat of a row', () => {
    chatRowTests(open);
  });
  describe('watched values', () => {
    watchTests(open);
  });
  describe('credentials', () => {
    credentialTests(open);
  });
  describe('runs', () => {
    runTests(open);
    refusedRunTests(open);
  });
  describe('lists of runs', () => {
    runListTests(open);
    longRunListTests(open);
  });
  describe('runs of threads', () => {
    threadRunTests(open);
  });
  describe('the same result again', () => {
    repeatTests(open);
  });
  describe('ends of runs', () => {
    endTests(open);
    afterEndTests(open);
    calledOffTests(open);
  });
  describe('confirmations', () => {
    ackTests(open);
    lateNagTests(open);
    escalationTests(open);
  });
  describe('what is asked, and what is left out', () => {
    askedTests(open);
  });
  describe('a result that waits for approval', () => {
    approvalTests(open);
  });
  describe('outbox', () => {
    outboxTests(open);
  });
  describe('quiet hours', () => {
    quietTests(open);
    changedQuietTests(open);
  });
  describe('ends of parts, and topics', () => {
    partEndTests(open);
    albumTests(open);
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
  describe('verbs', () => {
    personVerbTests(open);
  });
  describe('another chat', () => {
    attachTests(open);
  });
  describe('grants', () => {
    grantTests(open);
    ownerGoneTests(open);
  });
  describe('tokens', () => {
    tokenTests(open);
  });
  describe('callers of some chats', () => {
    reachTests(open);
  });
  describe('kept answers', () => {
    keptAnswerTests(open);
  });
  describe('workload', () => {
    workloadTests(open);
  });
  describe('usage', () => {
    usageTests(open);
  });
  describe('spending', () => {
    spendingTests(open);
    spendingLifeTests(open);
  });
  describe('what is told', () => {
    toldTests(open);
  });
  describe('left over', () => {
    leftOverTests(open);
  });
  describe('a clock set back', () => {
    setBackTests(open);
  });
  describe('reads', () => {
    readTests(open);
    longListTests(open);
  });
  describe('truth', () => {
    truthTests(open);
  });
  describe('feeds', () => {
    feedTests(open);
  });
  describe('downtimes', () => {
    downtimeTests(open);
  });
  describe('alarms', () => {
    alarmTests(open);
  });
  describe('upkeep', () => {
    upkeepTests(open);
  });
  describe('history', () => {
    keepTests(open);
  });
  describe('retention', () => {
    retentionTests(open);
    recordRetentionTests(open);
    remainsTests(open);
  });
  describe('audit and repair', () => {
    auditTests(open);
    workAuditTests(open);
    fileAuditTests(open);
    budgetAuditTests(open);
    accountTests(open);
  });
  describe('light transactions', () => {
    lightTests(open);
  });
  describe('the pace of several processes', () => {
    paceTests(open);
    leaseTests(open);
  });
  describe('lost claims', () => {
    lostClaimTests(open);
  });
  describe('what is seldom read', () => {
    seldomTests(open);
  });
  chatConformance(open);
  // Concurrent, because what runs side by side comes after all that stands before it, in whatever order that is run.
  test.concurrent('every statement of the store was run on this engine', ({ expect }) => {
    expect(neverRun()).toEqual([]);
  });
}

/** What the conversation with people asks of the store. */
function chatConformance(open: OpenWorld): void {
  describe('updates', () => {
    inboxTests(open);
  });
  describe('drafts', () => {
    draftTests(open);
  });
  describe('messages', () => {
    messageTests(open);
  });
  describe('chats', () => {
    chatTests(open);
    moveTests(open);
    goneTests(open);
  });
  describe('people', () => {
    peopleTests(open);
    accessTests(open);
  });
  describe('tasks of a chat', () => {
    chatTaskTests(open);
  });
  describe('facts about chats and the server', () => {
    chatFactTests(open);
  });
  describe('cards', () => {
    cardTests(open);
  });
  describe('the topic that one-offs share', () => {
    sharedTopicTests(open);
  });
  describe('presses', () => {
    pressedTests(open);
  });
  describe('words about runs', () => {
    noticeTests(open);
  });
  describe('words about parts, and doubts', () => {
    guidanceTests(open);
    doubtTests(open);
  });
  describe('traces', () => {
    traceTests(open);
  });
}
