import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { expect, test } from 'vitest';
import { messagesScript } from '../../src/sandbox/page/script-messages.ts';
import { servePages } from './control-server.ts';

test('the page and its two files come with their types and forbid everything else', async () => {
  const { ask } = await servePages();
  const types = new Map([
    ['', 'text/html; charset=utf-8'],
    ['/', 'text/html; charset=utf-8'],
    ['/page.js', 'text/javascript; charset=utf-8'],
    ['/page.css', 'text/css; charset=utf-8'],
  ]);
  for (const [path, type] of types) {
    const { status, headers, text } = await ask('GET', path);
    expect([path, status, headers['content-type']]).toEqual([path, 200, type]);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(text.length).toBeGreaterThan(1000);
    const head = await ask('HEAD', path);
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', headers['content-length']]);
  }
});

test('the markup names only what this server has, and holds no script or style of its own', async () => {
  const { ask } = await servePages();
  const { text } = await ask('GET', '');
  const links = [...text.matchAll(/\b(?:src|href)="([^"#]+)"/g)].map(([, link]) => link ?? '');
  const own = links.filter((link) => !link.startsWith('data:'));
  expect(own).toEqual(expect.arrayContaining(['/sandbox/page.css', '/sandbox/page.js']));
  for (const link of own) {
    expect([link, (await ask('GET', link.replace(/^\/sandbox/, ''))).status]).toEqual([link, 200]);
  }
  expect(text).not.toMatch(/<style|\son\w+=|\sstyle=|<script(?![^>]*\ssrc=)/i);
});

test('the script is whole, and writes what people say as text alone', async () => {
  const { ask } = await servePages();
  const { text } = await ask('GET', '/page.js');
  expect(() => compileFunction(text)).not.toThrow();
  expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|`/);
  expect(text).not.toMatch(/https?:\/\/\w/);
});

test('the script uses no name that nobody has declared', async () => {
  const { ask } = await servePages();
  const { text } = await ask('GET', '/page.js');
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-page-'));
  const [script, rules] = [join(folder, 'page.js'), join(folder, 'rules.json')];
  writeFileSync(script, text);
  writeFileSync(rules, JSON.stringify({ env: { browser: true, es2024: true }, rules: { 'no-undef': 'error' } }));
  const lint = ['--config', rules, '--format', 'unix', script];
  const told = spawnSync(process.execPath, [join('node_modules', 'oxlint', 'bin', 'oxlint'), ...lint], {
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  expect(told.stdout.split('\n').filter((line) => line.includes('no-undef'))).toEqual([]);
  expect([told.signal, told.error]).toEqual([null, undefined]);
});

test('every part that the script looks for stands in the markup', async () => {
  const { ask } = await servePages();
  const markup = (await ask('GET', '')).text;
  const { text } = await ask('GET', '/page.js');
  const ids = [...text.matchAll(/byId\('([\w-]+)'\)/g)].map(([, id]) => id ?? '');
  expect(ids.length).toBeGreaterThan(30);
  const missing = [...new Set(ids)].filter((id) => !markup.includes(`id="${id}"`));
  expect(missing).toEqual([]);
  const given = [...markup.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id);
  expect(given).toHaveLength(new Set(given).size);
});

test('the script asks only for addresses that exist', async () => {
  const { ask } = await servePages();
  const { text } = await ask('GET', '/page.js');
  const gets = [...text.matchAll(/\bget\('([a-z]+)/g)].map(([, name]) => ['GET', name]);
  const posts = [...text.matchAll(/\b(?:post|change)\('([a-z]+)/g)].map(([, name]) => ['POST', name]);
  expect(gets.length + posts.length).toBeGreaterThan(10);
  for (const [method = '', name = ''] of [...gets, ...posts]) {
    const { status } = await ask(method, `/control/${name}`, method === 'POST' ? { body: {} } : {});
    expect([method, name, status]).not.toEqual([method, name, 404]);
    expect([method, name, status]).not.toEqual([method, name, 405]);
  }
});

interface Entity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
}

/** What the page makes of a text, with a bracket for each node. */
function rendered(text: string, entities: readonly Entity[]): string {
  const el = (name: string, given: { readonly href?: string }, ...children: readonly string[]) =>
    `(${name}${given.href === undefined ? '' : ` ${given.href}`}:${children.join('')})`;
  const made: unknown = compileFunction(`${messagesScript}; return textNodes;`, ['el', 'URL']).call(null, el, URL);
  const textNodes = made as (text: string, entities: readonly Entity[]) => readonly string[];
  return textNodes(text, entities).join('');
}

test.each<readonly [string, string, readonly Entity[], string]>([
  ['no entity', 'plain <b>', [], 'plain <b>'],
  [
    'nested ones, told in any order',
    'a bold both b',
    [
      { type: 'italic', offset: 7, length: 4 },
      { type: 'bold', offset: 2, length: 9 },
    ],
    'a (strong:bold (em:both)) b',
  ],
  ['UTF-16 units, as the Bot API counts', '👍 yes', [{ type: 'bold', offset: 3, length: 3 }], '👍 (strong:yes)'],
  [
    'one that goes beyond the text, and one outside of it',
    'abc',
    [
      { type: 'bold', offset: 1, length: 99 },
      { type: 'code', offset: 50, length: 1 },
    ],
    'a(strong:bc)',
  ],
  [
    'ones that cross: the later one is cut',
    'abcd',
    [
      { type: 'bold', offset: 0, length: 3 },
      { type: 'italic', offset: 2, length: 2 },
    ],
    '(strong:ab(em:c))d',
  ],
  [
    'a block of code, without the line breaks around it',
    'x\ncode\ny',
    [
      { type: 'code', offset: 2, length: 4 },
      { type: 'pre', offset: 2, length: 4 },
    ],
    'x(pre:(code:code))y',
  ],
  [
    'links that a browser opens',
    'a b',
    [
      { type: 'text_link', offset: 0, length: 1, url: 'https://example.org/x' },
      { type: 'text_link', offset: 2, length: 1, url: 'javascript:alert(1)' },
    ],
    '(a https://example.org/x:a) (span:b)',
  ],
  [
    'an address without a scheme',
    'see example.org',
    [{ type: 'url', offset: 4, length: 11 }],
    'see (a http://example.org/:example.org)',
  ],
])('a text with %s', (_what, text, entities, shown) => {
  expect(rendered(text, entities)).toBe(shown);
});

interface Listed {
  readonly message_id: number;
  readonly ephemeral_id: number | null;
  readonly only_for: string | null;
  readonly replaces: number | null;
}

/** The marks of what the page shows to one person. */
function visible(messages: readonly Listed[], actor: string): readonly string[] {
  const script = `${messagesScript}; return () => visibleMessages().map(idOf);`;
  const made: unknown = compileFunction(script, ['shown', 'actor']).call(null, { messages }, () => actor);
  return (made as () => readonly string[])();
}

test('the page shows each person what is for everybody or for this one, each in its place', () => {
  const plain = (message_id: number) => ({ message_id, ephemeral_id: null, only_for: null, replaces: null });
  const secret = { message_id: 0, ephemeral_id: 7, only_for: 'ben', replaces: 2 };
  const messages = [plain(2), plain(3), secret];
  expect(visible(messages, 'ada')).toEqual(['m2', 'm3']);
  expect(visible(messages, 'ben')).toEqual(['m3', 'e7']);
});
