import type { Context } from 'hono';
import { AppError } from '../domain/errors.ts';
import { requestBytesMax } from '../domain/limits.ts';

/** The text of the body, never holding more than the limit, whether or not its length was declared. */
export async function bodyText(c: Context): Promise<string> {
  const bytes = await readBytes(c);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new AppError('invalid_request', 'The body is not UTF-8.', { cause: error });
  }
}

async function readBytes(c: Context): Promise<Uint8Array> {
  const encoding = c.req.header('content-encoding') ?? 'identity';
  if (!/^identity$/i.test(encoding)) {
    throw new AppError('unsupported_media_type', 'Send the body as it is, without a content-encoding such as gzip.');
  }
  const declared = c.req.header('content-length');
  if (declared !== undefined && Number(declared) > requestBytesMax) throw tooLarge();
  try {
    const isFramed = declared !== undefined && c.req.header('transfer-encoding') === undefined;
    return isFramed ? new Uint8Array(await c.req.raw.arrayBuffer()) : await readStream(c.req.raw.body);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid_request', 'The body ended before it was complete.', { cause: error });
  }
}

async function readStream(stream: AsyncIterable<Uint8Array> | null): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream ?? []) {
    size += chunk.byteLength;
    if (size > requestBytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(): AppError {
  return new AppError('payload_too_large', `A request has at most ${requestBytesMax} bytes.`);
}
