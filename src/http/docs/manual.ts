import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { OpenAPIHono } from '@hono/zod-openapi';
import { AppError } from '../../domain/errors.ts';
import { renderMarkdown, type LinkTarget, markup, Markup } from './markdown.ts';
import { docsStyle } from './style.ts';

/** Style of the manual's prose, in addition to that of the API reference. */
const manualStyle = String.raw`
.pages a[aria-current] { font-weight: 650; color: var(--accent); }
.manual { padding-bottom: 24px; }
.manual h1 { font-size: 1.8rem; line-height: 1.25; margin-top: 12px; }
.manual h2 { padding-top: 8px; scroll-margin-top: 12px; }
.manual h3 { font-size: 1.05rem; margin-top: 28px; scroll-margin-top: 12px; }
.manual h2 a { color: inherit; text-decoration: none; }
.manual h2 a:hover, .manual h3 a:hover { text-decoration: underline; }
.manual > p, .manual ul, .manual ol { max-width: 76ch; }
.manual > p, .manual > ul, .manual > ol { margin: 12px 0 0; }
.manual ul, .manual ol { padding-left: 1.4em; }
.manual li + li { margin-top: 5px; }
.manual li > pre { max-width: 100%; }
.manual img { display: block; max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 10px; }
.manual td p + p { margin-top: 4px; }
.sheet { margin: 12px 0; }
.sheet th { font-weight: 600; }
.sheet .number { text-align: right; white-space: nowrap; }

@media (max-width: 999px) {
  .pages { display: flex; flex-wrap: wrap; gap: 2px 4px; padding-bottom: 8px; border-bottom: 1px solid var(--line); }
}
@media (max-width: 640px) {
  .manual h1 { font-size: 1.5rem; }
  .sheet thead { display: none; }
  .sheet, .sheet tbody, .sheet tr, .sheet td { display: block; width: 100%; }
  .sheet tr { border-top: 1px solid var(--line); padding: 8px 0; }
  .sheet td { border: 0; padding: 2px 0; }
  .sheet td:first-child { font-weight: 600; }
  .sheet td:empty { display: none; }
  .sheet .number { text-align: left; }
  .sheet td:nth-child(n + 2):not(:nth-child(2):last-child)::before { content: attr(data-title) ': '; color: var(--soft); }
}
`;

interface ManualPage {
  /** The page is docs/<name>.md in the package, and /docs/<name> over HTTP. */
  readonly name: string;
  readonly title: string;
}

/** The pages of the manual, in the order in which a newcomer reads them. */
export const manualPages: readonly ManualPage[] = [
  { name: 'start', title: 'The first five minutes' },
  { name: 'chat', title: 'In the chat' },
  { name: 'schedules', title: 'Schedules and policies' },
  { name: 'actions', title: 'What tasks can do' },
  { name: 'http', title: 'Calls to the web' },
  { name: 'budgets', title: 'What runs use, and budgets' },
  { name: 'api', title: 'The API by example' },
  { name: 'cli', title: 'The command line' },
  { name: 'operations', title: 'Operations' },
  { name: 'scale', title: 'A million tasks and more' },
  { name: 'security', title: 'Security' },
  { name: 'measured', title: 'Measured' },
];

const picture = 'sandbox.png';
const style = docsStyle + manualStyle;
const headers = pageHeaders({ style, images: 'own' });

/** The folder docs of the package, which is equally far from src and from dist. */
const folder = new URL('../../../docs/', import.meta.url);

/** Serves the manual: each page is made from its markdown with its first request. */
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
  const header = markup`<p><b>Cronogram</b> · Version ${version} · <a href="/docs">API reference</a> · <a href="/readyz">health</a></p>`;
  return framed({
    title: `${title} · Cronogram`,
    style,
    header,
    body: markup`<nav aria-label="Manual">
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
      <main id="content" class="manual">${body}</main>`,
  });
}

interface Framed {
  readonly title: string;
  readonly style: string;
  readonly header: Markup;
  readonly body: Markup;
  readonly script?: string;
}

/** A whole page around its parts. */
export function framed({ title, style: css, header, body, script }: Framed): string {
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <style>${new Markup(css)}</style>
      </head>
      <body>
        <a class="skip" href="#content">To the content</a>
        <div class="frame">
          <header>${header}</header>
          ${body}
        </div>
        ${script === undefined ? null : markup`<script>${new Markup(script)}</script>`}
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

interface Allowed {
  readonly style: string;
  /** Absent on a page without a script. */
  readonly script?: string;
  readonly images?: 'own';
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Headers of a page that loads nothing from elsewhere: the browser accepts this style and this script, and no other. */
export function pageHeaders({ style, script, images }: Allowed) {
  return {
    'content-security-policy': [
      "default-src 'none'",
      ...(script === undefined ? [] : [`script-src ${hashOf(script)}`]),
      `style-src ${hashOf(style)}`,
      `img-src ${images === 'own' ? "'self' data:" : 'data:'}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  } as const;
}
