import type { IncomingMessage } from 'node:http';
import { Busboy } from '@fastify/busboy';

export interface Upload {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Telegram's limit for one file; the request has room for the rest. */
const fileBytesMax = 50 * 1024 * 1024;
const bodyBytesMax = 60 * 1024 * 1024;
/** Bodies without a file are small; this is far above the largest text with all of its entities. */
const plainBytesMax = 2 * 1024 * 1024;
const fieldsMax = 200;
const filesMax = 20;

/**
 * The arguments of a call. On the wire each of them is a string: JSON bodies are flattened, numbers are read out of
 * their text, and what cannot be read as a number is 0.
 */
export class Arguments {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #files: ReadonlyMap<string, Upload>;

  constructor(texts: ReadonlyMap<string, string>, files: ReadonlyMap<string, Upload> = new Map()) {
    this.#texts = texts;
    this.#files = files;
  }

  has(name: string): boolean {
    return this.#texts.has(name);
  }

  text(name: string): string {
    return this.#texts.get(name) ?? '';
  }

  integer(name: string, otherwise = 0): number {
    const text = this.#texts.get(name)?.trim();
    return text === undefined ? otherwise : integerIn(text);
  }

  /** The fields of a JSON object inside of an argument, as arguments by themselves; its files are those of the call. */
  within(fields: object): Arguments {
    const texts = new Map<string, string>();
    addFields(fields, texts);
    return new Arguments(texts, this.#files);
  }

  boolean(name: string): boolean {
    return ['true', 'yes', '1'].includes(this.text(name).trim().toLowerCase());
  }

  /** Undefined when it is missing or no JSON. */
  json(name: string): unknown {
    try {
      return JSON.parse(this.text(name)) as unknown;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  file(name: string): Upload | null {
    return this.attached(this.text(name)) ?? this.#files.get(name) ?? null;
  }

  /** The file of the part that is named by `attach://`. */
  attached(reference: string): Upload | null {
    const scheme = 'attach://';
    return reference.startsWith(scheme) ? (this.#files.get(reference.slice(scheme.length)) ?? null) : null;
  }

  without(name: string): Arguments {
    return new Arguments(new Map([...this.#texts].filter(([key]) => key !== name)), this.#files);
  }

  with(name: string, value: string): Arguments {
    return new Arguments(new Map([...this.#texts, [name, value]]), this.#files);
  }

  /** For looking at: what is JSON is shown as such, a file by its name and size. */
  shown(): Readonly<Record<string, unknown>> {
    const files = [...this.#files].map(([name, file]) => [name, `${file.name} (${file.bytes.byteLength} bytes)`]);
    const texts = [...this.#texts.keys()].map((name) => {
      const value = /^[[{]/.test(this.text(name)) ? this.json(name) : undefined;
      return [name, name === 'secret_token' ? '***' : (value ?? this.text(name))];
    });
    return Object.fromEntries([...texts, ...files]) as Record<string, unknown>;
  }
}

export function integerIn(text: string): number {
  const digits = /^-?\d{1,18}/.exec(text)?.[0];
  return digits === undefined ? 0 : Number(digits);
}

/** Reads the query string and the body of whatever form. The body is read to its end only where it may be useful. */
export async function readArguments(incoming: IncomingMessage, query: URLSearchParams): Promise<Arguments> {
  const texts = new Map(query);
  const type = incoming.headers['content-type'] ?? '';
  if (/^multipart\/form-data\b/i.test(type)) return readForm(incoming, texts);
  const body = await readText(incoming);
  if (/^application\/json\b/i.test(type)) {
    if (body !== '') flatten(body, texts);
  } else if (/^application\/x-www-form-urlencoded\b/i.test(type)) {
    for (const [name, value] of new URLSearchParams(body)) texts.set(name, value);
  }
  return new Arguments(texts);
}

function flatten(body: string, texts: Map<string, string>): void {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest("can't parse request parameters: invalid JSON");
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest("can't parse request parameters: expected an Object");
  }
  addFields(value, texts);
}

function addFields(value: object, texts: Map<string, string>): void {
  for (const [name, field] of Object.entries<unknown>({ ...value })) {
    if (field === null || field === undefined) continue;
    texts.set(name, typeof field === 'string' ? field : JSON.stringify(field));
  }
}

async function readText(incoming: IncomingMessage): Promise<string> {
  if (Number(incoming.headers['content-length'] ?? 0) > plainBytesMax) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > plainBytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge(): Failure {
  return new Failure(413, 'Request Entity Too Large');
}

function readForm(incoming: IncomingMessage, texts: Map<string, string>): Promise<Arguments> {
  if (Number(incoming.headers['content-length'] ?? 0) > bodyBytesMax) return Promise.reject(tooLarge());
  const files = new Map<string, Upload>();
  return new Promise((resolve, reject) => {
    const parser = formParser(incoming);
    if (parser === null) {
      reject(badRequest("can't parse request parameters: no boundary"));
      return;
    }
    const stop = (failure: Error) => {
      incoming.unpipe(parser);
      incoming.resume();
      reject(failure);
    };
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size > bodyBytesMax) stop(tooLarge());
    });
    parser.on('field', (name, value) => texts.set(name, value));
    parser.on('file', (...[field, stream, name, , mimeType]) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength;
        if (bytes > fileBytesMax) stop(tooLarge());
        else chunks.push(chunk);
      });
      stream.on('end', () => files.set(field, { name, mimeType, bytes: Buffer.concat(chunks) }));
    });
    parser.once('finish', () => resolve(new Arguments(texts, files)));
    parser.once('error', () => stop(badRequest("can't parse request parameters: broken form")));
    incoming.once('aborted', () => stop(badRequest('the request ended early')));
    incoming.pipe(parser);
  });
}

type Parser = InstanceType<typeof Busboy>;

function formParser(incoming: IncomingMessage): Parser | null {
  const type = incoming.headers['content-type'] ?? '';
  if (!/boundary=/i.test(type)) return null;
  return new Busboy({
    headers: { ...incoming.headers, 'content-type': type },
    limits: { fields: fieldsMax, files: filesMax, fieldSize: plainBytesMax },
  });
}

/** An answer of the Bot API instead of a result: the status, the text and the parameters of its JSON. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly status: number;
  readonly parameters: Readonly<Record<string, unknown>> | null;

  constructor(status: number, text: string, parameters: Readonly<Record<string, unknown>> | null = null) {
    super(text);
    this.status = status;
    this.parameters = parameters;
  }
}

export const badRequest = (text: string): Failure => new Failure(400, `Bad Request: ${text}`);
export const forbidden = (text: string): Failure => new Failure(403, `Forbidden: ${text}`);

export function tooManyRequests(seconds: number): Failure {
  return new Failure(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
}
