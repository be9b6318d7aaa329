import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { marked, type Token } from 'marked';
import { expect, it } from 'vitest';
import { renderMarkdown } from '../../src/http/docs/markdown.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith('.md'),
);
const text = (name: string) => readFileSync(join(root, name), 'utf8');

function tokensOf(name: string): readonly Token[] {
  const tokens: Token[] = [];
  void marked.walkTokens(marked.lexer(text(name)), (token) => {
    tokens.push(token);
  });
  return tokens;
}

function linksOf(name: string): readonly string[] {
  return tokensOf(name).flatMap((token) =>
    token.type === 'link' || token.type === 'image' ? [(token as { readonly href: string }).href] : [],
  );
}

function headingsOf(name: string): readonly string[] {
  const { body } = renderMarkdown(text(name), () => null);
  return [...body.text.matchAll(/<h\d id="([^"]*)"/g)].map(([, id]) => id ?? '');
}

it.each(pages)('leads from %s to files and headings that exist', (name) => {
  const links = linksOf(name).filter((link) => !/^(?:https?|mailto):/.test(link));
  for (const link of links) {
    const [path = '', heading = null] = link.split('#');
    const file = path === '' ? name : normalize(join(dirname(name), path));
    expect(existsSync(join(root, file)) && statSync(join(root, file)).isFile(), `${name}: ${link}`).toBe(true);
    if (heading !== null) expect(headingsOf(file), `${name}: ${link}`).toContain(heading);
  }
});

it('names every page of the manual in the README', () => {
  const links = linksOf('README.md');
  for (const page of pages.filter((name) => name !== 'README.md')) expect(links).toContain(page);
});

it.each(pages)('shows no raw HTML in %s', (name) => {
  const raw = tokensOf(name).filter(({ type }) => type === 'html');
  for (const { raw: html } of raw) expect(html.trim()).toMatch(/^<!--[^>]*-->$/);
});
