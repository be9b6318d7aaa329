import type { CounterLabels, CounterName, TimingLabels, TimingName } from '../operations/metrics.ts';

/** Counts what happens, for whoever watches the place. Nothing of it waits, throws or is read back. */
export interface Meter {
  count<N extends CounterName>(name: N, labels: CounterLabels<N>, by?: number): void;
  /** How long something took, or how late it came. */
  took<N extends TimingName>(name: N, labels: TimingLabels<N>, ms: number): void;
}

/** For whoever composes a part of the product that nobody watches. */
export const silentMeter: Meter = { count: () => undefined, took: () => undefined };
