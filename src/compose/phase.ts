/** Where a server stands in its life: it is ready for nobody before its start is complete, and from the first moment of its stop on. */
export interface Phase {
  readonly is: () => 'starting' | 'running' | 'stopping';
  run(): void;
  stop(): void;
  /** What the stop waits for, for whoever has to give it up. */
  readonly waitsFor: () => string;
  /** Notes what is waited for, until something else is. */
  waitFor<T>(what: string, work: Promise<T>): Promise<T>;
}

export function createPhase(): Phase {
  let now: ReturnType<Phase['is']> = 'starting';
  let what = 'start';
  return {
    is: () => now,
    run: () => {
      if (now === 'starting') now = 'running';
    },
    stop: () => {
      now = 'stopping';
    },
    waitsFor: () => what,
    waitFor: (name, work) => {
      what = name;
      return work;
    },
  };
}
