import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { importsOf } from '../../guard/source.ts';
import { aFolder } from '../../support/place.ts';
import { servePages, type ServedPages } from '../control-server.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Lists the files for the browser below a folder, by their paths in it. */
function storedIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:html|js|css)$/.test(name))
    .map((name) => name.replaceAll('\\', '/'))
    .toSorted();
}

const stored = storedIn(join(root, 'src/sandbox/page'));

interface PageFile {
  /** The path is the one below /sandbox. */
  readonly path: string;
  readonly text: string;
}

/** Fetches the files that the markup names, in their order. */
async function linked(ask: ServedPages['ask'], pattern: RegExp): Promise<readonly PageFile[]> {
  const markup = (await ask('GET', '')).text;
  const paths = [...markup.matchAll(pattern)].map(([, path = '']) => path);
  return Promise.all(paths.map(async (path) => ({ path, text: (await ask('GET', path)).text })));
}

/** Fetches the modules that a browser loads: the one in the markup, and everything that is imported from there. */
async function scriptsOf(ask: ServedPages['ask']): Promise<readonly PageFile[]> {
  const found = [...(await linked(ask, /<script type="module" src="\/sandbox([^"]+)"/g))];
  for (const file of found) {
    for (const { target } of importsOf(file)) {
      if (target === null || found.some(({ path }) => path === target)) continue;
      const { status, text } = await ask('GET', target);
      expect([file.path, target, status]).toEqual([file.path, target, 200]);
      found.push({ path: target, text });
    }
  }
  return found;
}

const stylesOf = (ask: ServedPages['ask']) => linked(ask, /<link rel="stylesheet" href="\/sandbox([^"]+)"/g);

test('the page and its files come with their types and forbid everything else', async () => {
  const { ask } = await servePages();
  const types = new Map([
    ['', 'text/html; charset=utf-8'],
    ['/', 'text/html; charset=utf-8'],
    ...(await scriptsOf(ask)).map(({ path }) => [path, 'text/javascript; charset=utf-8'] as const),
    ...(await stylesOf(ask)).map(({ path }) => [path, 'text/css; charset=utf-8'] as const),
  ]);
  expect(types.size).toBeGreaterThan(15);
  for (const [path, type] of types) {
    const { status, headers, text } = await ask('GET', path);
    expect([path, status, headers['content-type']]).toEqual([path, 200, type]);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(text.length).toBeGreaterThan(300);
    const head = await ask('HEAD', path);
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', headers['content-length']]);
  }
});

test('the markup names only what this server has, and holds no script or style of its own', async () => {
  const { ask } = await servePages();
  const { text } = await ask('GET', '');
  const links = [...text.matchAll(/\b(?:src|href)="([^"#]+)"/g)].map(([, link]) => link ?? '');
  const own = links.filter((link) => !link.startsWith('data:'));
  expect(own.length).toBeGreaterThan(4);
  for (const link of own) {
    expect([link, (await ask('GET', link.replace(/^\/sandbox/, ''))).status]).toEqual([link, 200]);
  }
  expect(text).not.toMatch(/<style|\son\w+=|\sstyle=|<script(?![^>]*\ssrc=)/i);
});

test('every file of the page is loaded by it, and nothing else of the folder is served', async () => {
  const { ask } = await servePages();
  const loaded = [...(await scriptsOf(ask)), ...(await stylesOf(ask))].map(({ path }) => path);
  const own = stored.filter((name) => name !== 'page.html').map((name) => posix.join('/page', name));
  expect(loaded.toSorted()).toEqual(own);
  for (const path of ['/page', '/page/page.ts', '/page/tsconfig.json', '/page/script', '/page/../page/page.html']) {
    expect([path, (await ask('GET', path)).status]).toEqual([path, 404]);
  }
});

test('the script writes what people say as text alone, and names no address of elsewhere', async () => {
  const { ask } = await servePages();
  for (const { path, text } of await scriptsOf(ask)) {
    expect([path, text]).not.toEqual([
      path,
      expect.stringMatching(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/),
    ]);
    expect([path, text]).not.toEqual([path, expect.stringMatching(/https?:\/\/\w/)]);
  }
});

/** A browser gives these classes to the elements of the markup. */
const classes: Readonly<Record<string, string>> = {
  a: 'HTMLAnchorElement',
  button: 'HTMLButtonElement',
  dialog: 'HTMLDialogElement',
  input: 'HTMLInputElement',
  select: 'HTMLSelectElement',
  textarea: 'HTMLTextAreaElement',
  time: 'HTMLTimeElement',
};

test('every part that the script looks for stands in the markup, and is what the script takes it for', async () => {
  const { ask } = await servePages();
  const markup = (await ask('GET', '')).text;
  const parts = [...markup.matchAll(/<(\w+)\b[^>]*?\bid="([^"]+)"/g)].map(
    ([, tag = '', id = '']) => [id, tag] as const,
  );
  const tags = new Map(parts);
  expect(parts).toHaveLength(tags.size);
  const text = (await scriptsOf(ask)).map((file) => file.text).join('\n');
  const sought = [...text.matchAll(/byId\('([\w-]+)'(?:, (\w+))?\)/g)].map(([, id = '', kind]) => ({ id, kind }));
  expect(sought.length).toBeGreaterThan(30);
  for (const { id, kind } of sought) {
    const made = classes[tags.get(id) ?? ''];
    expect([id, tags.has(id), kind ?? made]).toEqual([id, true, made]);
  }
});

test('the script asks only for addresses that exist', async () => {
  const { ask } = await servePages();
  const text = (await scriptsOf(ask)).map((file) => file.text).join('\n');
  const gets = [...text.matchAll(/\bget\('([a-z]+)/g)].map(([, name]) => ['GET', name]);
  const posts = [...text.matchAll(/\b(?:post|change)\('([a-z]+)/g)].map(([, name]) => ['POST', name]);
  expect(gets.length + posts.length).toBeGreaterThan(10);
  for (const [method = '', name = ''] of [...gets, ...posts]) {
    const { status } = await ask(method, `/control/${name}`, method === 'POST' ? { body: {} } : {});
    expect([method, name, status]).not.toEqual([method, name, 404]);
    expect([method, name, status]).not.toEqual([method, name, 405]);
  }
});

test('the build lays every file of the page beside the module that reads them', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly build: string };
  };
  const [step = ''] = scripts.build.split(' && ').slice(-1);
  const place = aFolder();
  cpSync(join(root, 'src/sandbox/page'), join(place, 'src/sandbox/page'), { recursive: true });
  mkdirSync(join(place, 'dist'));
  writeFileSync(join(place, 'dist/cli.js'), '');
  execFileSync('sh', ['-c', step], { cwd: place });
  expect(storedIn(join(place, 'dist/sandbox/page'))).toEqual(stored);
});
