import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { opened } from './ports.ts';

/** What ends with a test. Tests that run side by side have one each. */
export type AtEnd = (end: () => Promise<void> | void) => void;

/** An empty folder for one test. */
export function aFolder(atEnd: AtEnd = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'cronogram-test-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }));
  return folder;
}

/** Something that answers over HTTP for one test; answers its address. */
export async function aStub(answer: RequestListener, atEnd: AtEnd = onTestFinished): Promise<string> {
  const server = createServer(answer);
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${await opened(server)}`;
}
