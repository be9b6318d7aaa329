import { describe, expect, it } from 'vitest';
import type { Operation } from '../../src/api/operation.ts';
import { operations } from '../../src/api/operations.ts';
import { createKeptAnswers } from '../../src/app/use-cases/kept-answers.ts';
import type { Description } from '../../src/http/docs/openapi.ts';
import { exampleOf } from '../../src/http/docs/page.ts';
import { sha256 } from '../../src/system/ids.ts';
import { aPipeline } from '../support/pipeline.ts';
import { aDoor, bearer, told, type Door } from './door.ts';
import { appOver } from './pipeline-door.ts';

const all: readonly (readonly [string, Operation])[] = Object.entries(operations);
const guarded = all.filter(([, { scope }]) => scope !== 'open');
const ofOneThing = guarded.filter(([, { path }]) => /\{\w+_id\}/.test(path));

/** Ids that are there behind `aDoor`, and behind no pipeline. */
const targetOf = ({ path }: Operation) =>
  path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => named[name] ?? 'never-was');
const named: Readonly<Record<string, string>> = { thread_key: 'cli:default', id: '1001', actor: 'system:api', n: '1' };
const methodOf = ({ method }: Operation) => method.toUpperCase();

const description = (await (await aDoor().app.request('/openapi.json')).json()) as Description;

/** A body that the operation takes; undefined where it needs none. */
function bodyOf({ path, method }: Operation): unknown {
  const body = description.paths[path]?.[method]?.requestBody;
  return body?.required === true ? exampleOf(body.content['application/json']?.schema, description) : undefined;
}

const refusal = async (door: Door, operation: Operation, path: string, body = bodyOf(operation)) => {
  const { status, json } = await door.ask(methodOf(operation), path, body);
  return [status, json.error?.code, json.error?.details?.['field']];
};

describe('every operation', () => {
  it.each(guarded)('%s needs the token, before it reads a body', async (_id, operation) => {
    const door = aDoor();
    const body = operation.body === undefined ? {} : { body: 'x'.repeat(300_000) };
    const answer = await door.app.request(targetOf(operation), { method: methodOf(operation), ...body });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="cronogram"']);
    expect(door.asked).toEqual([]);
  });

  it.each(all)('%s says which other methods its path takes', async (_id, operation) => {
    const isThere = ({ path }: Operation) =>
      new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(targetOf(operation));
    const taken = [...new Set(all.flatMap(([, one]) => (isThere(one) ? [methodOf(one)] : [])))];
    const allowed = [...taken, ...(taken.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].toSorted().join(', ');
    const { status, json, headers } = await aDoor().ask(taken.includes('PUT') ? 'POST' : 'PUT', targetOf(operation));
    expect([status, json.error.code, headers.get('allow')]).toEqual([405, 'method_not_allowed', allowed]);
    const options = await aDoor().ask('OPTIONS', targetOf(operation));
    expect([options.status, options.text, options.headers.get('allow')]).toEqual([204, '', allowed]);
  });

  it.each(guarded)('%s refuses a parameter and a field that it does not know, by name', async (_id, operation) => {
    const door = aDoor();
    const path = targetOf(operation);
    expect(await refusal(door, operation, `${path}?colour=red`)).toEqual([400, 'invalid_request', 'colour']);
    if (operation.body !== undefined) {
      const body = { ...(bodyOf(operation) as object | undefined), colour: 'red' };
      expect(await refusal(door, operation, path, body)).toEqual([400, 'invalid_request', 'colour']);
      for (const other of ['{', '[]', 'null', '"text"'])
        expect((await refusal(door, operation, path, other)).slice(0, 2)).toEqual([400, 'invalid_request']);
    }
    expect(door.asked).toEqual([]);
  });

  it.each(guarded.filter(([, operation]) => operation.body !== undefined))(
    '%s takes no body that is not JSON, and an empty one only where it needs none',
    async (_id, operation) => {
      const door = aDoor();
      const [method, path] = [methodOf(operation), targetOf(operation)];
      const text = await door.ask(method, path, '{}', { 'content-type': 'text/plain' });
      expect([text.status, text.json.error.code]).toEqual([415, 'unsupported_media_type']);
      const isNeeded = bodyOf(operation) !== undefined;
      const { status, json } = await door.ask(method, path);
      if (isNeeded) expect([status, json.error.message]).toEqual([400, 'This request needs a body, a JSON object.']);
      else expect([status, (await door.ask(method, path, {})).status]).toEqual([status, status]);
      expect(status < 300).toBe(!isNeeded);
    },
  );

  it('tells what is not there and what cannot be there in the same words', async () => {
    const app = appOver(await aPipeline());
    for (const [id, operation] of ofOneThing) {
      const body = bodyOf(operation);
      const init = {
        method: methodOf(operation),
        headers: { ...bearer, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      };
      const path = targetOf(operation);
      const unknown = await told(await app.request(path, init));
      const odd = await told(await app.request(path.replace('never-was', '%20'), init));
      const code = /\{(task|run)_id\}/.exec(operation.path)?.[1];
      const expected = code === undefined ? 'not_found' : `${code}_not_found`;
      expect([unknown.status, unknown.json.error.code, odd.text], id).toEqual([404, expected, unknown.text]);
    }
  });

  it.each(all.filter(([, { method }]) => method === 'get'))(
    '%s answers HEAD like GET, without the body',
    async (_id, one) => {
      const door = aDoor();
      const [get, head] = [await door.ask('GET', targetOf(one)), await door.ask('HEAD', targetOf(one))];
      expect([get.status, head.status, head.text]).toEqual([200, 200, '']);
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    },
  );

  it('takes a key wherever it is a POST that leaves an effect', () => {
    const without = all.filter(([, { method, idempotent }]) => method === 'post' && idempotent === undefined);
    // They look at things, do what is to be done in any case, or make what is told once and kept nowhere.
    expect(without.map(([id]) => id).toSorted()).toEqual([
      'createToken',
      'pauseKind',
      'previewAction',
      'previewSchedule',
      'reconcile',
      'resumeKind',
      'rotateSecrets',
      'runAudit',
      'tick',
    ]);
  });

  it.each(all.filter(([, { idempotent }]) => idempotent === true))(
    '%s tells the same again for the same key, and refuses another request under it',
    async (_id, operation) => {
      const kept = new Map<string, string>();
      const store = {
        keptAnswer: async ({ scope, key }: { scope: string; key: string }) => kept.get(scope + key) ?? null,
        keepAnswer: async ({ scope, key }: { scope: string; key: string }, answer: string) =>
          void kept.set(scope + key, answer),
      };
      const { log } = aDoor();
      const door = aDoor({}, { tellOnce: createKeptAnswers({ store, clock: { now: () => 0 }, digest: sha256, log }) });
      const ask = () =>
        door.ask(methodOf(operation), targetOf(operation), bodyOf(operation), { 'idempotency-key': 'k' });
      const [first, again] = [await ask(), await ask()];
      expect([first.status < 300, first.headers.get('idempotency-replayed')]).toEqual([true, null]);
      expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([
        first.status,
        first.text,
        'true',
      ]);
      expect(door.asked.length).toBeLessThanOrEqual(1);
    },
  );
});
