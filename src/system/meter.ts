import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { counters, gauges, prefix, timings, type Sample } from '../app/operations/metrics.ts';
import type { Meter } from '../app/ports/metering.ts';

/** The meter of one server, and its page for Prometheus. */
export interface PrometheusMeter extends Meter {
  readonly contentType: string;
  /** Counters and timings, with the gauges that the samples tell. */
  page(samples: readonly Sample[]): Promise<string>;
}

interface Options {
  /** Also what Node tells of the process: memory, processor, event loop lag. Once in a process, because it watches the process. */
  readonly ofProcess: boolean;
}

export function createMeter({ ofProcess }: Options): PrometheusMeter {
  const registry = new Registry();
  const registers = [registry];
  // Metrics of the process have names that every dashboard knows.
  if (ofProcess) collectDefaultMetrics({ register: registry });
  const counted = mapOf(
    counters,
    (name, { help, labels }) => new Counter<string>({ name, help, labelNames: labels, registers }),
  );
  const timed = mapOf(
    timings,
    (name, { help, labels, buckets }) =>
      new Histogram<string>({ name, help, labelNames: labels, buckets: [...buckets], registers }),
  );
  const gauged = mapOf(
    gauges,
    (name, { help, labels }) => new Gauge<string>({ name, help, labelNames: labels, registers }),
  );
  const unlabelled = Object.entries(gauges).flatMap(([name, { labels }]) => (labels.length === 0 ? [name] : []));
  return {
    contentType: registry.contentType,
    count: (name, labels, by = 1) => counted.get(name)?.inc(labels, by),
    // A wall clock that was set back would make it negative, which is no duration.
    took: (name, labels, ms) => timed.get(name)?.observe(labels, Math.max(ms, 0) / 1000),
    page: (samples) => {
      // A gauge that is not told any more must not stand there as it was told last.
      for (const gauge of gauged.values()) gauge.reset();
      for (const { name, labels, value } of samples) gauged.get(name)?.set(labels, value);
      for (const name of unlabelled) if (isUntold(name, samples)) gauged.get(name)?.remove();
      return registry.metrics();
    },
  };
}

/** A gauge without labels says 0 by itself, which is not the same as nothing. */
function isUntold(name: string, samples: readonly Sample[]): boolean {
  return samples.every((one) => one.name !== name);
}

function mapOf<D extends object, M>(
  described: Readonly<Record<string, D>>,
  make: (name: string, one: D) => M,
): ReadonlyMap<string, M> {
  return new Map(Object.entries(described).map(([name, one]) => [name, make(prefix + name, one)]));
}
