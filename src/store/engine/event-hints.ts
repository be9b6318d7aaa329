import type { Engine, Script } from './engine.ts';

/** Calls back after each commit that has written events. What another process writes is not told of. */
export function tellingOfEvents(engine: Engine, wrote: () => void): Engine {
  return {
    ...engine,
    transact: async (script) => {
      let hasEvents = false;
      const answer = await engine.transact(() =>
        watched(script(), () => {
          hasEvents = true;
        }),
      );
      if (hasEvents) wrote();
      return answer;
    },
  };
}

function* watched<T>(script: Script<T>, writes: () => void): Script<T> {
  let step = script.next();
  while (step.done !== true) {
    if (step.value.does === 'each' && step.value.text.startsWith('insert into events ')) writes();
    step = script.next(yield step.value);
  }
  return step.value;
}
