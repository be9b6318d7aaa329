import type { OpenAPIHono } from '@hono/zod-openapi';
import { fieldTable } from './fields.ts';
import { guide } from './guide.ts';
import { manualLinks, serveManual, pageHeaders } from './manual.ts';
import { markup, Markup, prose } from './markdown.ts';
import { describeApi } from './openapi.ts';
import { operationsOf, operationSection, type Place } from './operation.ts';
import { docsStyle } from './style.ts';

/** The one thing that needs a script: to find an operation by typing. Without it all of them are there. */
const docsScript = String.raw`
const find = document.querySelector('.find');
const none = document.querySelector('.none');
const operations = [...document.querySelectorAll('.operation')];
const places = [...document.querySelectorAll('.place')];
const links = new Map([...document.querySelectorAll('nav li[data-of]')].map((link) => [link.dataset.of, link]));
function narrow() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const one of operations) {
    const isFound = words.every((word) => one.dataset.find.includes(word));
    one.hidden = !isFound;
    const link = links.get(one.id);
    if (link) link.hidden = !isFound;
    if (isFound) shown += 1;
  }
  for (const place of places) {
    const within = place.querySelectorAll('.operation');
    place.hidden = within.length > 0 ? [...within].every((one) => one.hidden) : words.length > 0;
  }
  none.hidden = shown > 0;
}
find.hidden = false;
find.addEventListener('input', narrow);
addEventListener('hashchange', () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target && target.closest('[hidden]')) {
    find.value = '';
    narrow();
    target.scrollIntoView();
  }
});
const wide = matchMedia('(min-width: 1000px)');
const contents = document.querySelector('nav details');
const unfold = () => { contents.open = wide.matches; };
wide.addEventListener('change', unfold);
unfold();
`;

/** The API for people: all of it on one page, from the same document that machines read. */
function docsPage(place: Place): string {
  const { description, origin } = place;
  const { info } = description;
  const page = markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${info.title} API</title>
        <link rel="icon" href="data:," />
        <style>${new Markup(docsStyle)}</style>
      </head>
      <body>
        <a class="skip" href="#content">To the content</a>
        <div class="frame">
          <header>
            <h1>${info.title} API</h1>
            <p>Version ${info.version} · <a href="/docs/start">manual</a> · <a href="/openapi.json">openapi.json</a> · <a href="/readyz">health</a></p>
          </header>
          ${contents(place)}
          <main id="content">
            ${guide(origin).map(
              ({ id, title, body }) =>
                markup`<section class="place chapter" id="${id}">
                  <h2>${title}</h2>
                  ${body}
                </section>`,
            )}
            ${tagSections(place)}
            <p class="none" hidden>No operation has these words.</p>
            <section class="place" id="objects">
              <h2>Objects</h2>
              ${objects(place)}
            </section>
          </main>
        </div>
        <script>${new Markup(docsScript)}</script>
      </body>
    </html> `;
  return page.text;
}

function contents({ description, origin }: Place): Markup {
  const groups = [...operationsOf(description)].map(
    ([tag, all]) =>
      markup`<li class="group">${tag}</li>
        ${all.map(({ operation: { operationId: id, summary } }) => markup`<li data-of="${id}"><a href="#${id}" title="${summary}">${id}</a></li>`)}`,
  );
  return markup`<nav aria-label="Contents">
    <input class="find" type="search" placeholder="Find an operation" aria-label="Find an operation" hidden />
    <details open>
      <summary>Contents</summary>
      <ul>
        <li class="group">manual</li>
        ${manualLinks()}
        <li class="group">every request</li>
        ${guide(origin).map(({ id, title }) => markup`<li><a href="#${id}">${title}</a></li>`)} ${groups}
        <li class="group">more</li>
        <li><a href="#objects">Objects</a></li>
      </ul>
    </details>
  </nav>`;
}

function tagSections(place: Place): Markup {
  const { tags } = place.description;
  const sections = [...operationsOf(place.description)].map(([tag, all]) => {
    const about = tags.find(({ name }) => name === tag)?.description ?? '';
    return markup`<section class="place" id="tag-${tag}">
      <h2>${tag.charAt(0).toUpperCase() + tag.slice(1)}</h2>
      <p class="soft">${prose(about)}</p>
      ${all.map((one) => operationSection(one, place))}
    </section>`;
  });
  return markup`${sections}`;
}

function objects({ description }: Place): Markup {
  const { schemas } = description.components;
  const named = Object.entries(schemas).toSorted(([a], [b]) => a.localeCompare(b));
  return markup`${named.map(
    ([name, schema]) =>
      markup`<article class="operation" id="object-${name}" data-find="${name.toLowerCase()}">
        <h3><a href="#object-${name}">${name}</a></h3>
        ${schema.description === undefined ? null : markup`<p>${prose(schema.description)}</p>`}${fieldTable(schema, schemas, !isAnswer(schema))}
      </article>`,
  )}`;
}

/** In an answer every field is there, so that it says nothing that one is. */
function isAnswer({ properties = {}, required = [] }: { properties?: object; required?: readonly string[] }): boolean {
  return Object.keys(properties).length === required.length;
}

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
