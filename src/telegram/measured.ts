import type { Transformer } from 'grammy';
import type { Meter } from '../app/ports/meter.ts';
import type { Stopwatch } from '../app/ports/outside.ts';

interface Needs {
  readonly meter: Meter;
  readonly stopwatch: Stopwatch;
}

/** Counts every call by what became of it. Methods are named by our own code alone, so there are only so many. */
export function measured({ meter, stopwatch }: Needs): Transformer {
  return async (prev, ...call) => {
    const [method] = call;
    const from = stopwatch.elapsed();
    const count = (result: string) => {
      meter.count('telegram_calls_total', { method, result });
      if (method !== 'getUpdates') meter.took('telegram_call_duration_seconds', { method }, stopwatch.elapsed() - from);
    };
    try {
      const answer = await prev(...call);
      count(answer.ok ? 'ok' : resultOf(answer.error_code));
      return answer;
    } catch (error) {
      count('none');
      throw error;
    }
  };
}

function resultOf(code: unknown): string {
  if (code === 429) return 'rate_limited';
  // A page of a proxy that happens to be JSON has no code.
  if (typeof code !== 'number') return 'none';
  return code >= 500 ? 'troubled' : 'refused';
}
