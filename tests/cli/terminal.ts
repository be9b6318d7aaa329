import stringWidth from 'string-width';
import type { Terminal } from '../../src/cli/layout.ts';
import { composeCli, type Started } from '../../src/compose/cli.ts';

/** The person at the other end of the program. */
export interface Seat {
  readonly input?: string;
  /** Answers to each question, in turn; without them no person is there. */
  readonly answers?: readonly string[];
  readonly columns?: number;
  readonly hasColours?: boolean;
  readonly showsProgress?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  readonly interrupted?: AbortSignal;
  readonly timer?: Started['timer'];
  readonly clock?: Started['clock'];
  readonly stopwatch?: Started['stopwatch'];
  /** Hears every piece of output as it comes. */
  readonly heard?: (text: string) => void;
}

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The output as JSON. */
  readonly json: Record<string, unknown>;
}

/** Types the words, and reads what comes of it. */
export async function typed(words: readonly string[], seat: Seat = {}): Promise<Said> {
  const answers = [...(seat.answers ?? [])];
  let [out, err] = ['', ''];
  const terminal: Terminal = {
    out: (text) => {
      out += text;
      seat.heard?.(text);
    },
    err: (text) => {
      err += text;
      seat.heard?.(text);
    },
    showsProgress: seat.showsProgress === true,
    canAsk: seat.answers !== undefined,
    hasColours: seat.hasColours === true,
    columns: seat.columns ?? 80,
    read: async () => seat.input ?? '',
    askHidden: async (question) => {
      err += question;
      return answers.shift() ?? '';
    },
    ask: async (question) => {
      err += question;
      return answers.shift() ?? '';
    },
  };
  const { clock, stopwatch, timer } = seat;
  const program = composeCli({
    terminal,
    interrupted: seat.interrupted ?? new AbortController().signal,
    version: '1.2.3',
    environment: seat.environment ?? {},
    ...(clock === undefined ? {} : { clock }),
    ...(stopwatch === undefined ? {} : { stopwatch }),
    ...(timer === undefined ? {} : { timer }),
  });
  const code = await program.run(words);
  return {
    code,
    out,
    err,
    get json() {
      return JSON.parse(out) as Record<string, unknown>;
    },
  };
}

/** The widest line, as a terminal shows it. */
export function widest(text: string): number {
  return Math.max(...text.split('\n').map((line) => stringWidth(line)));
}
