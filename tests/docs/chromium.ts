import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Viewport {
  readonly width: number;
  readonly height: number;
}

/** One page of a headless Chromium, driven by its own protocol, so that no package is needed for it. */
export interface BrowserPage {
  open(url: string): Promise<void>;
  /** Evaluates an expression in the page until it is true. */
  until(expression: string): Promise<void>;
  evaluate(expression: string): Promise<unknown>;
  /** A picture as PNG. */
  picture(): Promise<Buffer>;
  close(): Promise<void>;
}

const programs = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const patienceMs = 15_000;

/** Starts the first Chromium of this computer; null when there is none. */
export async function openPage({ width, height }: Viewport): Promise<BrowserPage | null> {
  const profile = mkdtempSync(join(tmpdir(), 'cronogram-chromium-'));
  for (const program of programs) {
    const started = await startChromium(program, [`--user-data-dir=${profile}`, `--window-size=${width},${height}`]);
    if (started === null) continue;
    const protocol = await connect(started.address);
    const page = await attach(protocol, { width, height });
    return {
      ...page,
      close: async () => {
        protocol.close();
        const ended = new Promise((resolve) => started.child.once('close', resolve));
        started.child.kill();
        await ended;
        rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
      },
    };
  }
  rmSync(profile, { recursive: true, force: true });
  return null;
}

const flags = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--hide-scrollbars',
  '--lang=en-GB',
  '--remote-debugging-port=0',
];

/** Resolves when the browser has said where its protocol listens; with null when there is no such program. */
async function startChromium(
  program: string,
  more: readonly string[],
): Promise<{ readonly child: ChildProcess; readonly address: string } | null> {
  const child = spawn(program, [...flags, ...more, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const isThere = await new Promise((resolve) => {
    child.once('spawn', () => resolve(true));
    child.once('error', () => resolve(false));
  });
  if (isThere === false) return null;
  for await (const line of createInterface({ input: child.stderr })) {
    const address = /^DevTools listening on (ws:\S+)/.exec(line)?.[1];
    if (address !== undefined) return { child, address };
  }
  throw new Error(`${program} ended before it listened.`);
}

type Result = Readonly<Record<string, unknown>>;

interface Protocol {
  send(method: string, params: Result, sessionId?: string): Promise<Result>;
  close(): void;
}

interface Answer {
  readonly id?: number;
  readonly result?: Result;
  readonly error?: { readonly message: string };
}

async function connect(address: string): Promise<Protocol> {
  const socket = new WebSocket(address);
  const waiting = new Map<number, (answer: Answer) => void>();
  socket.addEventListener('message', (event) => {
    const answer = JSON.parse(String(event.data)) as Answer;
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('Chromium does not answer.')));
  });
  let last = 0;
  return {
    send: async (method, params, sessionId) => {
      const id = (last += 1);
      const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
      socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
      const { result, error } = await answered;
      if (result === undefined) throw new Error(`${method}: ${error?.message ?? 'no result'}`);
      return result;
    },
    close: () => socket.close(),
  };
}

async function attach(protocol: Protocol, { width, height }: Viewport): Promise<Omit<BrowserPage, 'close'>> {
  const { targetId } = await protocol.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await protocol.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method: string, params: Result = {}) => protocol.send(method, params, String(sessionId));
  await send('Page.enable');
  await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  await send('Emulation.setTimezoneOverride', { timezoneId: 'Europe/Madrid' });
  await send('Emulation.setLocaleOverride', { locale: 'en-GB' });
  const evaluate = async (expression: string) => {
    const { result } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    return (result as { readonly value?: unknown }).value;
  };
  const until = async (expression: string) => {
    const from = performance.now();
    while ((await evaluate(expression)) !== true) {
      if (performance.now() - from > patienceMs) throw new Error(`The page never came to: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  return {
    evaluate,
    until,
    open: async (url) => {
      await send('Page.navigate', { url });
      await until(`document.readyState === 'complete' && location.href !== 'about:blank'`);
    },
    picture: async () => {
      const { data } = await send('Page.captureScreenshot', { format: 'png' });
      return Buffer.from(String(data), 'base64');
    },
  };
}
