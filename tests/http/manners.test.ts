import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { requestBytesMax } from '../../src/domain/limits.ts';
import { aDoor, bearer, createPath, creation, told } from './door.ts';
import { aServer, raw } from './socket.ts';

const json = JSON.stringify(creation);
const jsonType = { 'content-type': 'application/json' };

const post = (body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
  aDoor().app.request(createPath, { method: 'POST', headers: { ...bearer, ...jsonType, ...headers }, body });

describe('a body', () => {
  it.each([
    ['with a byte order mark', `\ufeff${json}`, {}],
    ['with a named charset', json, { 'content-type': 'application/json; charset=UTF-8' }],
    ['with a quoted charset', json, { 'content-type': 'application/json;charset="utf-8"' }],
    ['with another parameter', json, { 'content-type': 'application/json; profile=x' }],
    ['that says that it is not encoded', json, { 'content-encoding': 'identity' }],
    [
      'with the same name in two objects',
      json.replace('{', '{"context":{"kind":1,"a":[{"b":1},{"b":2}],"t":"a\\":b"},'),
      {},
    ],
  ])('%s is read', async (_what, body, headers) => {
    expect((await post(body, headers)).status).toBe(201);
  });

  it.each([
    ['in another charset', json, { 'content-type': 'application/json; charset=latin1' }, 415, 'unsupported_media_type'],
    ['that is compressed', gzipSync(json), { 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
    ['that is compressed twice', gzipSync(json), { 'content-encoding': 'gzip, br' }, 415, 'unsupported_media_type'],
    [
      'with a number that would be changed',
      json.replace('{', '{"context":{"id":12345678901234567890},'),
      {},
      400,
      'invalid_request',
    ],
    ['of nothing but a byte order mark', '\ufeff', {}, 400, 'invalid_request'],
  ])('%s is refused', async (_what, body, headers, status, code) => {
    const answer = await told(await post(body, headers));
    expect([answer.status, answer.json.error.code]).toEqual([status, code]);
  });

  it('names the field of the number that is refused', async () => {
    const { json: large } = await told(await post(json.replace('{', '{"context":{"id":9007199254740993},')));
    expect(large.error).toMatchObject({ details: { field: 'context.id' } });
  });

  it('of length 0 is none, whatever its type', async () => {
    const { port } = await aServer();
    const head = `POST /v1/tasks/task-1/pause HTTP/1.1\r\nhost: x\r\nauthorization: Bearer the-token\r\n`;
    const answer = await raw(port, `${head}content-type: text/plain\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a request', () => {
  it('from a page of another origin is not let in', async () => {
    const { url } = await aServer();
    const preflight = await fetch(`${url}/v1/tasks`, {
      method: 'OPTIONS',
      headers: { origin: 'https://example.org', 'access-control-request-method': 'GET' },
    });
    expect(preflight.status).toBe(401);
    const answer = await fetch(`${url}/v1/tasks`, { headers: { ...bearer, origin: 'https://example.org' } });
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    await answer.text();
  });

  it('with a slash too many is told so', async () => {
    const { json: answer } = await aDoor().ask('GET', '/v1/tasks/');
    expect(answer.error.message).toBe('There is no route GET /v1/tasks/. It is there without the slash at the end.');
  });

  it('of whatever accept is answered in JSON', async () => {
    const { status, headers } = await aDoor().ask('GET', '/v1/tasks/task-1', undefined, { accept: 'text/html' });
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
  });

  it('keeps its connection for the next one', async () => {
    const { port } = await aServer();
    const one = 'GET /livez HTTP/1.1\r\nhost: x\r\n';
    const answer = await raw(port, `${one}\r\n${one}connection: close\r\n\r\n`);
    expect(answer.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
    expect(answer).toMatch(/connection: keep-alive\r\nkeep-alive: timeout=75\r\n/i);
  });

  it.each([
    ['an address', `GET /v1/tasks?q=${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['a header', `GET /v1/tasks HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])('with %s that is too long is refused in the envelope', async (_what, text) => {
    const { port } = await aServer();
    const answer = await raw(port, text);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
      error: { code: 'payload_too_large' },
    });
  });

  it('with a long address that still fits is read', async () => {
    const { url } = await aServer();
    const answer = await fetch(`${url}/v1/tasks/${'x'.repeat(10_000)}`, { headers: bearer });
    expect(answer.status).toBe(404);
    await answer.text();
  });

  it('that asks first may send its body, unless it is too large', async () => {
    const { port } = await aServer();
    const head = (length: number) =>
      `POST ${createPath} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer the-token\r\ncontent-type: application/json\r\n` +
      `expect: 100-continue\r\nconnection: close\r\ncontent-length: ${length}\r\n\r\n`;
    const welcome = await raw(port, head(Buffer.byteLength(json)) + json);
    expect(welcome).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
    expect(await raw(port, head(requestBytesMax + 1))).toMatch(/^HTTP\/1\.1 413 /);
    // Nobody is asked for a body before it is known who they are.
    const stranger = head(Buffer.byteLength(json)).replace('the-token', 'another');
    expect(await raw(port, stranger)).toMatch(/^HTTP\/1\.1 401 /);
  });
});
