import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { operations } from '../../src/api/operations.ts';
import { idempotencyKeyLengthMax, pageDefault, pageMax, requestBytesMax } from '../../src/domain/limits.ts';
import { markup, Markup, prose } from '../../src/http/docs/markdown.ts';
import type { Description } from '../../src/http/docs/openapi.ts';
import { curlOf, operationsOf } from '../../src/http/docs/page.ts';
import { statusOf } from '../../src/http/errors.ts';
import { heartbeatMs, streamsMax } from '../../src/http/events.ts';
import { burstSeconds, guessesMax } from '../../src/http/token.ts';
import { aDoor, token } from './door.ts';

async function aPage() {
  const door = aDoor();
  const response = await door.app.request('http://cronogram.example:8787/docs');
  return { ...door, response, text: await response.text() };
}

describe('the documentation', () => {
  it('is open, and fetches and runs nothing but what is its own', async () => {
    const { response, text } = await aPage();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8']);
    const hashOf = (tag: string) => {
      const [, inside = ''] = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(text) ?? [];
      expect(inside.length).toBeGreaterThan(100);
      return `'sha256-${createHash('sha256').update(inside).digest('base64')}'`;
    };
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`script-src ${hashOf('script')};`);
    expect(policy).toContain(`style-src ${hashOf('style')};`);
    expect(policy).not.toContain('unsafe');
    expect(text).not.toMatch(/\s(?:on\w+|style)=/);
    const links = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link]) => link ?? '');
    expect(links.length).toBeGreaterThan(100);
    for (const link of links) expect(link).toMatch(/^(?:#|\/docs\/\w+$|\/openapi\.json$|\/readyz$|data:,$)/);
  });

  it('describes every operation without a script', async () => {
    const { text } = await aPage();
    const still = text.replace(/<script>[\s\S]*<\/script>/, '');
    for (const [id, { path }] of Object.entries(operations)) {
      expect(still).toContain(`<article class="operation" id="${id}"`);
      expect(still.replaceAll('<wbr />', '')).toContain(`<code>${path}</code>`);
    }
  });

  it('explains every code and states every limit in the manual', () => {
    const manual = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
    for (const [code, status] of Object.entries(statusOf)) expect(manual).toContain(`| ${status} | \`${code}\` | `);
    const facts = [
      `at most ${requestBytesMax} bytes`,
      `${pageDefault} entries unless you say otherwise, and at most ${pageMax}.`,
      `1 to ${idempotencyKeyLengthMax} visible`,
      `${burstSeconds} seconds' worth`,
      `wrong tokens ${guessesMax} a minute`,
      `each ${heartbeatMs / 1000} seconds`,
      `at most ${streamsMax} streams`,
    ];
    for (const fact of facts) expect(manual).toContain(fact);
  });

  it('knows no secret', async () => {
    expect((await aPage()).text).not.toContain(token);
  });

  it('is where a visitor ends up', async () => {
    const { app } = aDoor();
    const response = await app.request('/');
    expect([response.status, response.headers.get('location')]).toEqual([302, '/docs']);
  });

  it('gives examples that do what they say when they are pasted', async () => {
    const door = aDoor();
    const description = (await (await door.app.request('/openapi.json')).json()) as Description;
    const place = { origin: 'http://cronogram.example', description };
    const all = [...operationsOf(description).values()].flat();
    expect(all).toHaveLength(Object.keys(operations).length);
    for (const one of all) {
      const { method, path, headers, body } = pasted(curlOf(one, place));
      // Without streams the feed of events answers a page.
      const response = await door.app.request(path, { method, headers, ...(body === null ? {} : { body }) });
      expect(response.status, `${one.operation.operationId}: ${await response.clone().text()}`).toBeLessThan(300);
    }
  });

  it('names the place where it is read', async () => {
    expect((await aPage()).text).toContain('curl &quot;http://cronogram.example:8787/v1/tasks');
  });
});

/** A command line as a shell would read it. */
function pasted(line: string) {
  const ids: Readonly<Record<string, string>> = {
    TASK_ID: 'task-1',
    RUN_ID: 'run-1',
    GRANT_ID: 'grant-1',
    CRONOGRAM_API_TOKEN: token,
  };
  const words = [...line.replaceAll('\\\n', ' ').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) =>
      single ?? bare ?? (double ?? '').replace(/\$(\w+)/g, (_all, name: string) => ids[name] ?? ''),
  );
  expect(words[0]).toBe('curl');
  const after = (flag: string) => words.flatMap((word, index) => (word === flag ? [words[index + 1] ?? ''] : []));
  const url = words.find((word) => word.startsWith('http')) ?? '';
  return {
    method: after('-X')[0] ?? 'GET',
    path: url.replace('http://cronogram.example', ''),
    headers: Object.fromEntries(after('-H').map((header) => header.split(/: (.*)/s).slice(0, 2) as [string, string])),
    body: after('-d')[0] ?? null,
  };
}

describe('markup', () => {
  it('takes every value for text, unless it is markup', () => {
    const { text } = markup`<p title="${'"<&>\''}">${'<script>'}${1}${null}${[markup`<b>${'&'}</b>`, 'x']}</p>`;
    expect(text).toBe('<p title="&quot;&lt;&amp;&gt;&#39;">&lt;script&gt;1<b>&amp;</b>x</p>');
    expect(prose('a `<b>` & c').text).toBe('a <code>&lt;b&gt;</code> &amp; c');
    expect(markup`${new Markup('<i>')}`.text).toBe('<i>');
  });
});
