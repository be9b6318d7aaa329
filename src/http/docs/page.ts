import type { OpenAPIHono } from '@hono/zod-openapi';
import type { HttpRooms } from '../serving.ts';
import { framed, manualLinks, serveManual, pageHeaders } from './manual.ts';
import { markup, prose, type Markup } from './markdown.ts';
import { describeApi, type DescribedOperation, type Description, type Parameter, type Schema } from './openapi.ts';
import { docsStyle } from './style.ts';

/** The one thing that needs a script: to find an operation by typing. Without it all of them are there. */
const docsScript = String.raw`
const find = document.querySelector('.find');
const operations = [...document.querySelectorAll('.operation')];
const links = new Map([...document.querySelectorAll('nav li[data-of]')].map((link) => [link.dataset.of, link]));
function narrow() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const one of operations) {
    one.hidden = !words.every((word) => one.dataset.find.includes(word));
    const link = links.get(one.id);
    if (link) link.hidden = one.hidden;
  }
}
find.hidden = false;
find.addEventListener('input', narrow);
addEventListener('hashchange', () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target && target.hidden) {
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

interface Operating {
  readonly path: string;
  readonly method: string;
  readonly operation: DescribedOperation;
}

/** Every operation in the order of its tag, and within it as it was served. */
export function operationsOf({ paths, tags }: Description): ReadonlyMap<string, readonly Operating[]> {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return new Map(tags.map(({ name }) => [name, all.filter(({ operation }) => operation.tags[0] === name)]));
}

/** Where the page is read, so that its examples can be pasted as they are. */
interface Place {
  readonly origin: string;
  readonly description: Description;
}

/** Variables in the place of ids that only the reader knows. */
const ids: Readonly<Record<string, string>> = { task_id: '$TASK_ID', run_id: '$RUN_ID', grant_id: '$GRANT_ID' };

export function curlOf({ path, method, operation }: Operating, { origin, description }: Place): string {
  const { parameters = [], requestBody, security, responses } = operation;
  const way = path.replace(
    /\{(\w+)\}/g,
    (_all, name: string) => ids[name] ?? encodeURIComponent(pathExample(parameters, name)),
  );
  const example =
    requestBody?.required === true ? exampleOf(requestBody.content['application/json']?.schema, description) : null;
  const isStream = Object.values(responses).some(({ content }) => content?.['text/event-stream'] !== undefined);
  const lines = [
    `curl${isStream ? ' -N' : ''}${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "${origin}${way}"`,
    ...(security.length === 0 ? [] : [`-H "authorization: Bearer $CRONOGRAM_API_TOKEN"`]),
    ...(isStream ? [`-H 'accept: text/event-stream'`] : []),
    ...(example === null ? [] : [`-H 'content-type: application/json'`, `-d '${quoted(example)}'`]),
  ];
  return lines.join(' \\\n  ');
}

function quoted(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .replace(/'/g, String.raw`'\''`)
    .replace(/\n/g, '\n  ');
}

function pathExample(parameters: readonly Parameter[], name: string): string {
  const example = parameters.find((one) => one.name === name)?.schema.example;
  return typeof example === 'string' || typeof example === 'number' ? String(example) : name;
}

/** The body that stands as the example of its schema. */
export function exampleOf(schema: Schema = {}, { components }: Description): unknown {
  const name = schema.$ref?.slice(schema.$ref.lastIndexOf('/') + 1) ?? '';
  return schema.example ?? components.schemas[name]?.example ?? null;
}

function operationSection(one: Operating, place: Place): Markup {
  const { path, method, operation } = one;
  const { operationId: id, summary, description = '', requestBody, parameters = [], responses } = operation;
  const isRefusal = (name: string) => responses[name]?.['x-error-codes'] !== undefined;
  const good = Object.entries(responses).filter(([status]) => !isRefusal(status));
  const refusals = Object.entries(responses).filter(([status]) => isRefusal(status));
  return markup`<article class="operation" id="${id}" data-find="${`${id} ${method} ${path} ${summary}`.toLowerCase()}">
    <h3>
      <a href="#${id}"><span class="method ${method}">${method.toUpperCase()}</span> <code>${breakable(path)}</code></a>
    </h3>
    <p class="lead">${prose(`${summary}. ${description}`.trim())}</p>
    ${shell(curlOf(one, place))} ${parameters.length === 0 ? null : raw('Parameters', parameters)}
    ${requestBody === undefined ? null : raw(requestBody.required === true ? 'Body' : 'Body (optional)', schemaIn(requestBody.content))}
    ${good.map(([status, { description, content = {} }]) => raw(`Answer ${status}: ${description}`, schemaIn(content)))}
    <p class="soft">
      Refused with ${refusals.map(([status, { 'x-error-codes': codes = [] }]) => markup`${status} ${codes.map((code) => markup`<code>${code}</code> `)} `)}
    </p>
  </article> `;
}

const shell = (text: string) => markup`<pre tabindex="0"><code>${text}</code></pre>`;

function schemaIn(content: NonNullable<DescribedOperation['requestBody']>['content']): unknown {
  return content['application/json']?.schema ?? content;
}

/** A schema as programs read it. */
function raw(title: string, value: unknown): Markup {
  return markup`<details>
    <summary>${title}</summary>
    ${shell(JSON.stringify(value, null, 2))}
  </details>`;
}

/** A long path may be broken behind its slashes. */
function breakable(path: string): Markup {
  return markup`${path.split(/(?<=\/)/).map((part) => markup`${part}<wbr />`)}`;
}

/** The API for people: all of it on one page, from the same document that machines read. */
function docsPage(place: Place): string {
  const { info, components } = place.description;
  const header = markup`<h1>${info.title} API</h1>
    <p>Version ${info.version} · <a href="/docs/start">manual</a> · <a href="/openapi.json">openapi.json</a> · <a href="/readyz">health</a></p>`;
  const schemas = Object.entries(components.schemas).toSorted(([a], [b]) => a.localeCompare(b));
  return framed({
    title: `${info.title} API`,
    style: docsStyle,
    script: docsScript,
    header,
    body: markup`${contents(place)}
      <main id="content">
        <section class="place" id="start">
          ${info.description.split('\n\n').map((text) => markup`<p>${prose(text)}</p>`)}
          <p>What holds for every request, with examples: <a href="/docs/api">The API by example</a>.</p>
        </section>
        ${tagSections(place)}
        <section class="place" id="objects">
          <h2>Objects</h2>
          ${schemas.map(([name, schema]) => raw(name, schema))}
        </section>
      </main>`,
  });
}

/** An operation as it is looked for: by its name, or by its verb and path. */
function contentsLine({ path, method, operation: { operationId: id, summary } }: Operating): Markup {
  return markup`<li data-of="${id}">
    <a href="#${id}" title="${summary}">${id} <small class="soft">${method.toUpperCase()} ${breakable(path)}</small></a>
  </li>`;
}

function contents({ description }: Place): Markup {
  const groups = [...operationsOf(description)].map(
    ([tag, all]) =>
      markup`<li class="group">${tag}</li>
        ${all.map(contentsLine)}`,
  );
  return markup`<nav aria-label="Contents">
    <input class="find" type="search" placeholder="Find an operation" aria-label="Find an operation" hidden />
    <details open>
      <summary>Contents</summary>
      <ul>
        <li class="group">manual</li>
        ${manualLinks()} ${groups}
        <li class="group">more</li>
        <li><a href="#start">Every request</a></li>
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

const headers = pageHeaders({ style: docsStyle, script: docsScript });

/** Serves the API reference and the manual. Both are open, because they hold no secret. */
export function serveDocs(app: OpenAPIHono, { version, kinds }: Pick<HttpRooms, 'version' | 'kinds'>): void {
  let latest: { readonly origin: string; readonly page: string } | null = null;
  app.get('/docs', (c) => {
    const { origin } = new URL(c.req.url);
    if (latest?.origin !== origin)
      latest = { origin, page: docsPage({ origin, description: describeApi(app, version, kinds.forms) }) };
    return c.html(latest.page, 200, headers);
  });
  serveManual(app, version);
  app.get('/', (c) => c.redirect('/docs'));
}
