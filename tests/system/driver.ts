import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../support/chance.ts';
import { call, type Answer, type Request, type WireTask } from './api.ts';
import { wish, type Wish } from './load.ts';

/** What the server has acknowledged about one task; all of it must be found in the database at the end. */
export interface Known {
  readonly wish: Wish;
  readonly task: WireTask;
  instructions: string | null;
  interval: string | null;
  state: 'active' | 'paused' | 'deleted' | null;
  /** Ids of runs by hand. */
  readonly runsByHand: string[];
  busy: boolean;
}

export interface Ledger {
  readonly known: readonly Known[];
  readonly requests: number;
  readonly repeated: number;
  /** Answers that no client should ever get, whatever happens to the server. */
  readonly wrong: readonly { readonly request: Request; readonly answer: Answer }[];
}

export interface Driver {
  readonly ledger: Ledger;
  /** Resolves when every request in hand has its answer; the server must be up for that. */
  stop(): Promise<void>;
}

export interface DriverDeps {
  readonly random: Chance;
  /** Resolves once there is a server to ask. */
  readonly url: () => Promise<string>;
  readonly tasks: number;
  readonly name: string;
  /** The address that some tasks call; where there is none, they wait as long by themselves. */
  readonly target?: string;
  /** Groups in which tasks are made. */
  readonly forums: readonly number[];
  readonly hands: number;
  /** The longest pause of a hand between two requests. */
  readonly pauseMaxMs: number;
}

/** A few clients who never give up: a request without an answer is sent again, under the same key, until it has one. */
export function drive(needs: DriverDeps): Driver {
  const { random } = needs;
  const known: Known[] = [];
  const wrong: { request: Request; answer: Answer }[] = [];
  let [requests, repeated, asked, stopping] = [0, 0, 0, false];

  const untilAnswered = async (request: Request): Promise<Answer> => {
    requests += 1;
    for (;;) {
      try {
        const answer = await call(await needs.url(), request);
        if (answer.status < 500) return answer;
        if (answer.status !== 503) wrong.push({ request, answer });
      } catch {
        // The server was killed under the request, or is not there yet.
      }
      repeated += 1;
      await pause(20);
    }
  };

  const add = async () => {
    const wanted = wish(random, asked, needs);
    asked += 1;
    const request = {
      method: 'POST',
      path: `/v1/threads/${wanted.thread}/tasks`,
      body: wanted.body,
      key: wanted.key,
    } as const;
    const answer = await untilAnswered(request);
    const task = answer.body.task;
    // A schedule that names a moment may be over when the request arrives at last.
    const isOver = answer.status === 400 && answer.body.error?.code === 'invalid_schedule';
    if (task === undefined && !isOver) wrong.push({ request, answer });
    if (task === undefined) return;
    known.push({ wish: wanted, task, instructions: null, interval: null, state: null, runsByHand: [], busy: false });
  };

  const change = async () => {
    const free = known.filter((one) => one.wish.mayChange && !one.busy && one.state !== 'deleted');
    if (free.length === 0) return;
    const one = random.pick(free);
    one.busy = true;
    await random.pick(verbs)({ random, known: one, ask: untilAnswered, wrong });
    one.busy = false;
  };

  const hand = async () => {
    // All tasks are there in the end, however slow the machine is.
    while (!stopping || asked < needs.tasks) {
      await (asked < needs.tasks ? add() : change());
      await pause(random.between(0, asked < needs.tasks ? 30 : needs.pauseMaxMs));
    }
  };

  const working = Promise.all(Array.from({ length: needs.hands }, hand));
  return {
    ledger: {
      known,
      wrong,
      get requests() {
        return requests;
      },
      get repeated() {
        return repeated;
      },
    },
    stop: async () => {
      stopping = true;
      await working;
    },
  };
}

interface Turn {
  readonly random: Chance;
  readonly known: Known;
  readonly ask: (request: Request) => Promise<Answer>;
  readonly wrong: { request: Request; answer: Answer }[];
}

let keys = 0;

function expectStatus(turn: Turn, request: Request, answer: Answer): boolean {
  // Another task may have been deleted, be running or be exhausted; every other refusal is a fault.
  if (answer.status !== 200 && answer.status !== 409) turn.wrong.push({ request, answer });
  return answer.status === 200;
}

const pathOf = ({ known }: Turn) => `/v1/tasks/${known.task.task_id}`;

async function runNow(turn: Turn): Promise<void> {
  keys += 1;
  const request = {
    method: 'POST',
    path: `${pathOf(turn)}/run-now`,
    key: `run-${turn.known.wish.key}-${keys}`,
  } as const;
  const answer = await turn.ask(request);
  if (!expectStatus(turn, request, answer)) return;
  turn.known.runsByHand.push(answer.body.task_run?.task_run_id ?? 'none');
}

async function pauseTask(turn: Turn): Promise<void> {
  const request = { method: 'POST', path: `${pathOf(turn)}/pause` } as const;
  const answer = await turn.ask(request);
  if (expectStatus(turn, request, answer)) turn.known.state = answer.body.task?.state === 'paused' ? 'paused' : null;
}

async function resumeTask(turn: Turn): Promise<void> {
  const request = { method: 'POST', path: `${pathOf(turn)}/resume` } as const;
  if (expectStatus(turn, request, await turn.ask(request))) turn.known.state = null;
}

async function rewrite(turn: Turn): Promise<void> {
  const instructions = `Changed to ${turn.random.between(0, 1e9)}.`;
  const request = { method: 'PATCH', path: pathOf(turn), body: { instructions } } as const;
  if (expectStatus(turn, request, await turn.ask(request))) turn.known.instructions = instructions;
}

async function retime(turn: Turn): Promise<void> {
  const interval = turn.random.pick(['PT1S', 'PT2S', 'PT3S']);
  const request = {
    method: 'PATCH',
    path: pathOf(turn),
    body: { schedule: { kind: 'interval', interval, timezone: 'UTC' } },
  } as const;
  if (expectStatus(turn, request, await turn.ask(request))) turn.known.interval = interval;
}

async function remove(turn: Turn): Promise<void> {
  // A few tasks shall be left to play with.
  if (turn.random.next() < 0.9) return runNow(turn);
  const request = { method: 'DELETE', path: pathOf(turn) } as const;
  const answer = await turn.ask(request);
  // 404 is the answer to the repetition of a request whose answer was lost.
  if (answer.status === 404 || expectStatus(turn, request, answer)) turn.known.state = 'deleted';
}

const verbs = [runNow, runNow, runNow, pauseTask, resumeTask, resumeTask, rewrite, retime, retime, remove] as const;
