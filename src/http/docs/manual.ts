import { readFileSync } from 'node:fs';
import type { OpenAPIHono } from '@hono/zod-openapi';
import { AppError } from '../../domain/errors.ts';
import { pageHeaders } from './headers.ts';
import { manualStyle } from './manual-style.ts';
import { renderMarkdown, type LinkTarget } from './markdown.ts';
import { markup, Markup } from './markup.ts';
import { docsStyle } from './style.ts';

export interface ManualPage {
  /** The page is docs/<name>.md in the package, and /docs/<name> over HTTP. */
  readonly name: string;
  readonly title: string;
}

/** The pages of the manual, in the order in which a newcomer reads them. */
export const manualPages: readonly ManualPage[] = [
  { name: 'start', title: 'The first five minutes' },
  { name: 'chat', title: 'In the chat' },
  { name: 'schedules', title: 'Schedules and policies' },
  { name: 'api', title: 'The API by example' },
  { name: 'cli', title: 'The command line' },
  { name: 'operations', title: 'Operations' },
  { name: 'security', title: 'Security' },
  { name: 'measured', title: 'Measured' },
];

const picture = 'sandbox.png';
const style = docsStyle + manualStyle;
const headers = pageHeaders({ style, images: 'own' });

/** The folder docs of the package, which is equally far from src and from dist. */
const folder = new URL('../../../docs/', import.meta.url);

/** Serves the manual: each page is made from its markdown when somebody first asks for it. */
export function serveManual(app: OpenAPIHono, version: string): void {
  for (const page of manualPages) {
    const html = kept(() => pageHtml(page, version));
    app.get(`/docs/${page.name}`, (c) => c.html(html(), 200, headers));
  }
  const image = kept(() => new Uint8Array(read(picture)));
  app.get(`/docs/${picture}`, (c) =>
    c.body(image(), 200, { 'content-type': 'image/png', 'cross-origin-resource-policy': 'same-origin' }),
  );
}

/** Makes a value once. A failure is not kept. */
function kept<T extends object | string>(make: () => T): () => T {
  let value: T | null = null;
  return () => (value ??= make());
}

function read(name: string): Buffer {
  try {
    return readFileSync(new URL(name, folder));
  } catch (error) {
    throw new AppError('not_found', `docs/${name} is not part of this installation.`, { cause: error });
  }
}

/** Pages link to each other as files, which GitHub understands too; other files of the repository are not served. */
const targetOf: LinkTarget = (href) => {
  if (href === picture) return `/docs/${picture}`;
  if (/^(?:#|https?:\/\/)/.test(href)) return href;
  const [, name, part = ''] = /^(\w+)\.md(#.+)?$/.exec(href) ?? [];
  return manualPages.some((page) => page.name === name) ? `/docs/${name}${part}` : null;
};

function pageHtml({ name, title }: ManualPage, version: string): string {
  const { body, parts } = renderMarkdown(read(`${name}.md`).toString('utf8'), targetOf);
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Cronogram</title>
        <link rel="icon" href="data:," />
        <style>${new Markup(style)}</style>
      </head>
      <body>
        <a class="skip" href="#content">To the content</a>
        <div class="frame">
          <header>
            <p><b>Cronogram</b> · Version ${version} · <a href="/docs">API reference</a> · <a href="/readyz">health</a></p>
          </header>
          <nav aria-label="Manual">
            <ul class="pages">
              ${manualLinks(name)}
              <li><a href="/docs">API reference</a></li>
            </ul>
            <details open>
              <summary>On this page</summary>
              <ul>
                ${parts.map((part) => markup`<li><a href="#${part.id}">${part.title}</a></li>`)}
              </ul>
            </details>
          </nav>
          <main id="content" class="manual">${body}</main>
        </div>
      </body>
    </html> `.text;
}

/** A line for each page; the one that is open is marked. */
export function manualLinks(open: string | null = null): Markup {
  return markup`${manualPages.map(({ name, title }) => {
    const mark = name === open ? new Markup(' aria-current="page"') : null;
    return markup`<li><a href="/docs/${name}"${mark}>${title}</a></li>`;
  })}`;
}
