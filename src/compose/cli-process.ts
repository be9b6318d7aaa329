import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { composeCli } from './cli.ts';
import type { Terminal } from '../cli/layout.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Narrower than this nothing can be laid out. */
const columnsMin = 20;
/** Of a terminal that does not know. */
const columnsUsual = 80;

const interruption = new AbortController();

const terminal: Terminal = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  showsProgress: process.stderr.isTTY,
  canAsk: process.stdin.isTTY && process.stderr.isTTY,
  hasColours: process.stdout.isTTY,
  // What goes into a file or another program is not cut: whoever searches it would not find what is left out.
  columns: process.stdout.isTTY
    ? Math.max(columnsMin, process.stdout.columns > 0 ? process.stdout.columns : columnsUsual)
    : Number.POSITIVE_INFINITY,
  read: async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  },
  // Ctrl-C and the end of the input are answers as well: whoever asked must not wait for another.
  ask: (question) =>
    new Promise((resolve) => {
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      let answer: string | null = null;
      lines.once('SIGINT', () => {
        interruption.abort();
        lines.close();
      });
      lines.once('close', () => {
        if (answer === null) process.stderr.write('\n');
        resolve(answer ?? '');
      });
      lines.question(question, (text) => {
        answer = text;
        lines.close();
      });
    }),
};

/** The program `cronogram` as a process of its own. */
export async function runCli(): Promise<void> {
  // The first Ctrl-C ends what is waited for and says so; whoever presses again wants it gone.
  process.once('SIGINT', () => interruption.abort());
  process.once('SIGTERM', () => interruption.abort());
  // A pipe whose reader has seen enough, such as head, is no fault.
  process.stdout.on('error', (error: Error & { code?: string }) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });

  const program = composeCli({ terminal, interrupted: interruption.signal, version });
  process.exitCode = await program.run(process.argv.slice(2));
}
