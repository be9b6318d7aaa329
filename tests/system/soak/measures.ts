import { readFileSync } from 'node:fs';
import { token, type Boot } from '../program.ts';

/** A server's memory and loop while it is under load. */
export interface Sample {
  readonly atMs: number;
  /** Resident memory without the pages of files, which the system takes back as it needs them. */
  readonly ownMb: number;
  readonly rssMb: number;
  readonly heapMb: number;
  readonly loopP99Ms: number;
}

/** Above this people feel it in every answer. */
export const loopP99MaxMs = 15;
/** What is left after a collection grows by what is remembered for a while, and by the backlog of a fault. */
export const heapGrowthMaxMb = 24;
/** For the whole process, once its caches are full. */
const memoryGrowthMaxMb = 48;
/** Until then SQLite fills its cache of 64 MB, and the heap takes what its first backlogs need, and keeps it. */
const cachesFillMs = 10 * 60_000;
const lookEveryMs = 5000;

export function watch(server: () => { readonly url: string; readonly boot: Boot }) {
  const samples: Sample[] = [];
  const look = async () => {
    const { url, boot } = server();
    // A server that is stopped or not there tells nothing.
    const page = await fetch(`${url}/metrics`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(lookEveryMs),
    })
      .then((answer) => answer.text())
      .catch(() => '');
    const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1] ?? NaN);
    const rssMb = read('process_resident_memory_bytes') / 1e6;
    const loopP99Ms = read('nodejs_eventloop_lag_p99_seconds') * 1000;
    if (Number.isNaN(rssMb)) return;
    const heapMb = read('nodejs_heap_size_used_bytes') / 1e6;
    samples.push({ atMs: performance.now(), ownMb: ownMbOf(boot.pid) ?? rssMb, rssMb, heapMb, loopP99Ms });
  };
  const looking = setInterval(() => void look(), lookEveryMs);
  return {
    end: (): readonly Sample[] => {
      clearInterval(looking);
      return samples;
    },
  };
}

/** Only Linux tells it. */
function ownMbOf(pid: number): number | null {
  try {
    const kb = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kb === undefined ? null : (Number(kb) * 1024) / 1e6;
  } catch {
    return null;
  }
}

type Memory = 'ownMb' | 'rssMb' | 'heapMb';

/** The middle of the first fifth against that of the last one, and the slope of the straight line through all. */
export function growthOf(samples: readonly Sample[], memory: Memory = 'ownMb') {
  const fifth = Math.max(1, Math.floor(samples.length / 5));
  const beforeMb = middleOf(samples.slice(0, fifth).map((sample) => sample[memory]));
  const afterMb = middleOf(samples.slice(-fifth).map((sample) => sample[memory]));
  return { beforeMb, afterMb, slopeMbPerHour: slopeOf(samples, memory) };
}

/** Whether what the process holds for itself has stopped growing; a run too short for the caches to be full cannot tell. */
export function isGrowing(samples: readonly Sample[]): boolean {
  const settled = samples.filter(({ atMs }) => atMs - (samples[0]?.atMs ?? 0) > cachesFillMs);
  const { beforeMb, afterMb } = growthOf(settled);
  return afterMb - beforeMb > memoryGrowthMaxMb;
}

export function middleOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function slopeOf(samples: readonly Sample[], memory: Memory): number {
  const mean = (of: (sample: Sample) => number) => samples.reduce((sum, one) => sum + of(one), 0) / samples.length;
  const [at, mb] = [mean(({ atMs }) => atMs), mean((sample) => sample[memory])];
  const spread = mean(({ atMs }) => (atMs - at) ** 2);
  return spread === 0 ? 0 : (mean((sample) => (sample.atMs - at) * (sample[memory] - mb)) / spread) * 3_600_000;
}
