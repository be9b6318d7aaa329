import type { OpenAPIHono } from '@hono/zod-openapi';
import { pageHeaders } from './headers.ts';
import { serveManual } from './manual.ts';
import { docsPage } from './page.ts';
import { docsScript } from './script.ts';
import { docsStyle } from './style.ts';
import { describeApi } from './openapi.ts';

const headers = pageHeaders({ style: docsStyle, script: docsScript });

/** Serves the API reference and the manual. Both are open, because they hold no secret. */
export function serveDocs(app: OpenAPIHono, { version }: { readonly version: string }): void {
  let latest: { readonly origin: string; readonly page: string } | null = null;
  app.get('/docs', (c) => {
    const { origin } = new URL(c.req.url);
    if (latest?.origin !== origin)
      latest = { origin, page: docsPage({ origin, description: describeApi(app, version) }) };
    return c.html(latest.page, 200, headers);
  });
  serveManual(app, version);
  app.get('/', (c) => c.redirect('/docs'));
}
