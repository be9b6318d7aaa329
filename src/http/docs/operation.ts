import { aboutOf, fieldTable, typeMarkup, exampleOf } from './fields.ts';
import { markup, prose, type Markup } from './markdown.ts';
import type { DescribedAnswer, DescribedOperation, Description, Parameter } from './openapi.ts';

export interface Operating {
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

/** What stands in the place of an id that only the reader knows. */
const ids: Readonly<Record<string, string>> = { task_id: '$TASK_ID', run_id: '$RUN_ID', grant_id: '$GRANT_ID' };

export function curlOf({ path, method, operation }: Operating, { origin, description }: Place): string {
  const { parameters = [], requestBody, security, responses } = operation;
  const way = path.replace(
    /\{(\w+)\}/g,
    (_all, name: string) => ids[name] ?? encodeURIComponent(pathExample(parameters, name)),
  );
  const body = requestBody?.content['application/json']?.schema;
  const isSent = body !== undefined && requestBody?.required === true;
  const isStream = Object.values(responses).some(({ content }) => content?.['text/event-stream'] !== undefined);
  const lines = [
    `curl${isStream ? ' -N' : ''}${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "${origin}${way}"`,
    ...(security.length === 0 ? [] : [`-H "authorization: Bearer $CRONOGRAM_API_TOKEN"`]),
    ...(isStream ? [`-H 'accept: text/event-stream'`] : []),
    ...(isSent
      ? [`-H 'content-type: application/json'`, `-d '${quoted(exampleOf(body, description.components.schemas))}'`]
      : []),
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
  return typeof example === 'string' ? example : name;
}

/** Where the page is read, so that its examples can be pasted as they are. */
export interface Place {
  readonly origin: string;
  readonly description: Description;
}

export function operationSection(one: Operating, place: Place): Markup {
  const { path, method, operation } = one;
  const { operationId: id, summary, requestBody, parameters = [] } = operation;
  const { schemas } = place.description.components;
  const body = requestBody?.content['application/json']?.schema;
  return markup`<article class="operation" id="${id}" data-find="${`${id} ${method} ${path} ${summary}`.toLowerCase()}">
    <h3>
      <a href="#${id}"><span class="method ${method}">${method.toUpperCase()}</span> <code>${breakable(path)}</code></a>
    </h3>
    <p class="lead">${prose(`${summary}.`)}</p>
    <pre tabindex="0"><code>${curlOf(one, place)}</code></pre>
    ${
      parameters.length === 0
        ? null
        : markup`<h4>Parameters</h4>
            ${parameterTable(parameters)}`
    }
    ${
      body === undefined
        ? null
        : markup`<h4>Body${requestBody?.required === true ? null : markup` <span class="soft">may be left out</span>`}</h4>
            ${fieldTable(body, schemas, true)}`
    }
    ${answerBlocks(operation, place)} ${refusalTable(operation)}
  </article> `;
}

/** A long path may be broken behind its slashes. */
function breakable(path: string): Markup {
  return markup`${path.split(/(?<=\/)/).map((part) => markup`${part}<wbr />`)}`;
}

function parameterTable(parameters: readonly Parameter[]): Markup {
  const rows = parameters.map(
    ({ name, in: place, required, schema }) =>
      markup`<tr>
        <th scope="row">
          <code>${name}</code>
          <span class="soft">${place}</span
          >${required === true && place !== 'path' ? markup` <b class="needed">needed</b>` : null}
        </th>
        <td>${typeMarkup(schema)}${aboutOf(schema)}</td>
      </tr>`,
  );
  return markup`<table class="fields">
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

function answerBlocks({ responses }: DescribedOperation, { description }: Place): Markup {
  const good = Object.entries(responses).filter(([, { 'x-error-codes': codes }]) => codes === undefined);
  const alike = new Map<string, { statuses: string[]; answer: DescribedAnswer }>();
  for (const [status, answer] of good) {
    const key = JSON.stringify(answer.content);
    const known = alike.get(key);
    if (known === undefined) alike.set(key, { statuses: [status], answer });
    else known.statuses.push(status);
  }
  return markup`${[...alike.values()].map(({ statuses, answer }) => {
    const schema = answer.content?.['application/json']?.schema;
    const table =
      schema === undefined
        ? markup`<p class="soft">Text.</p>`
        : fieldTable(schema, description.components.schemas, false);
    return markup`<details>
      <summary>Answer <b>${statuses.join(', ')}</b></summary>
      <p>${prose(answer.description)}</p>
      ${table}
    </details>`;
  })}`;
}

function refusalTable({ responses }: DescribedOperation): Markup {
  const rows = Object.entries(responses).flatMap(([status, { 'x-error-codes': codes }]) =>
    codes === undefined
      ? []
      : [
          markup`<tr>
            <th scope="row">${status}</th>
            <td>${codes.map((code) => markup`<a href="#error-${code}"><code>${code}</code></a> `)}</td>
          </tr>`,
        ],
  );
  if (rows.length === 0) return markup``;
  return markup`<details>
    <summary>Refusals</summary>
    <table class="refusals">
      <tbody>
        ${rows}
      </tbody>
    </table>
  </details>`;
}
