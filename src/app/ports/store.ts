import type { Reach } from '../../domain/principal.ts';
import type { UsageStore } from '../operations/status.ts';
import type { AnswerStore } from '../use-cases/kept-answers.ts';
import type { TokenStore } from '../use-cases/tokens.ts';
import type { ChunkStore, WatchStore } from './blobs.ts';
import type { AccessStore, ChatFacts } from './chat-facts.ts';
import type { ChatStore } from './chats.ts';
import type { CredentialStore } from './credentials.ts';
import type { WorkloadStore, SpendingStore } from './metering.ts';
import type { HostStore } from './outbound.ts';
import type { OutboxStore, PaceStore } from './outbox.ts';
import type { RunStore, SlotStore } from './pipeline.ts';
import type { KindPauseStore, ProcessStore } from './processes.ts';
import type { AckStore, ApprovalStore, QuestionStore } from './questions.ts';
import type { SecretStore } from './secrets.ts';
import type { TaskStore, GrantStore } from './tasks.ts';
import type { AlarmStore, DowntimeStore, HousekeepingStore, LeaseStore, StandingStore, UpkeepStore } from './upkeep.ts';
import type { TruthStore } from './why.ts';

/** All of it: what one database gives to all rooms. */
export interface Store
  extends
    AlarmStore,
    StandingStore,
    SlotStore,
    RunStore,
    HostStore,
    OutboxStore,
    PaceStore,
    TaskStore,
    UpkeepStore,
    WorkloadStore,
    TruthStore,
    DowntimeStore,
    HousekeepingStore,
    LeaseStore,
    ChatStore,
    AccessStore,
    ChatFacts,
    AckStore,
    ApprovalStore,
    QuestionStore,
    GrantStore,
    AnswerStore,
    UsageStore,
    ChunkStore,
    SpendingStore,
    WatchStore,
    TokenStore,
    CredentialStore,
    SecretStore,
    ProcessStore,
    KindPauseStore {
  /** The same for a caller for whom nothing exists outside of these chats; null stands for all of them. */
  within(chats: Reach): Store;
  close(): Promise<void>;
}
