import type { ChatFacts, ServerFacts } from '../ports/chat-facts.ts';
import type { Clock } from '../ports/outside.ts';
import type { Ready } from './readiness.ts';
import type { UpkeepStore } from '../ports/pipeline.ts';

/** How the server stands, for its owners. */
export interface ServerStatus {
  readonly version: string;
  readonly at: number;
  readonly startedAt: number;
  readonly ready: Ready;
  readonly facts: ServerFacts;
  /** The last look for what must never be; null when there was none yet. */
  readonly audit: { readonly at: number; readonly findings: number } | null;
}

interface Needs {
  readonly store: Pick<ChatFacts, 'serverFacts'> & Pick<UpkeepStore, 'readNote'>;
  readonly clock: Clock;
  readonly version: string;
  readonly ready: () => Promise<Ready>;
}

/** The process is as old as this function's call. */
export function createStatus({ store, clock, version, ready }: Needs): () => Promise<ServerStatus> {
  const startedAt = clock.now();
  return async () => {
    const at = clock.now();
    return {
      version,
      at,
      startedAt,
      ready: await ready(),
      facts: await store.serverFacts(at),
      audit: auditIn(await store.readNote('audit')),
    };
  };
}

/** What another version wrote, and this one cannot read, is as good as none. */
function auditIn(note: string | null): ServerStatus['audit'] {
  try {
    const { at, findings } = JSON.parse(note ?? '') as { readonly at?: unknown; readonly findings?: unknown };
    const instant = typeof at === 'string' ? Date.parse(at) : Number.NaN;
    return Number.isNaN(instant) || !Array.isArray(findings) ? null : { at: instant, findings: findings.length };
  } catch {
    return null;
  }
}
