import { fieldTable } from './fields.ts';
import { guide } from './guide.ts';
import { manualLinks } from './manual.ts';
import { operationsOf, operationSection, type Place } from './operation.ts';
import { docsScript } from './script.ts';
import { docsStyle } from './style.ts';
import { markup, Markup, prose } from './markup.ts';

/** The API for people: all of it on one page, from the same document that machines read. */
export function docsPage(place: Place): string {
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
