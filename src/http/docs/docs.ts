import { createHash } from 'node:crypto';
import type { OpenAPIHono } from '@hono/zod-openapi';
import { docsPage } from './page.ts';
import { docsScript } from './script.ts';
import { docsStyle } from './style.ts';
import { describeApi } from './openapi.ts';

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Nothing is fetched from elsewhere, and nothing runs but the script of the page itself. */
const headers = {
  'content-security-policy': [
    "default-src 'none'",
    `script-src ${hashOf(docsScript)}`,
    `style-src ${hashOf(docsStyle)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/** The description for people. It tells nothing that is secret, and so it is open. */
export function serveDocs(app: OpenAPIHono, { version }: { readonly version: string }): void {
  let latest: { readonly origin: string; readonly page: string } | null = null;
  app.get('/docs', (c) => {
    const { origin } = new URL(c.req.url);
    if (latest?.origin !== origin)
      latest = { origin, page: docsPage({ origin, description: describeApi(app, version) }) };
    return c.html(latest.page, 200, headers);
  });
  app.get('/', (c) => c.redirect('/docs'));
}
