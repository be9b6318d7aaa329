import { AppError } from '../../../domain/errors.ts';
import type { ActionSpec } from '../../../domain/task.ts';
import { type ActionForm, type ActionField, type ReadAction, settingLines, withoutSecrets } from '../form.ts';
import { authKinds, authTold, authWords } from './auth-form.ts';

export const httpMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const fields: readonly ActionField[] = [
  {
    name: 'method',
    is: 'choice',
    of: httpMethods,
    does: 'Without it GET, or POST where there is a body. GET and HEAD carry none.',
    example: 'GET',
    flag: '--method <verb>',
    isEditable: true,
    inBrief: true,
  },
  {
    name: 'url',
    is: 'text',
    isRequired: true,
    does: 'An http or https address. It may be a template.',
    example: 'https://api.example.com/price',
    flag: '--http-url <url>',
    names: true,
    isEditable: true,
    inBrief: true,
  },
  {
    name: 'query',
    is: 'pairs',
    isMany: true,
    does: 'Parameters, added to those of the url.',
    example: { currency: 'EUR' },
    flag: '--query <name=value>',
    isEditable: true,
  },
  {
    name: 'headers',
    is: 'pairs',
    does: 'Headers by name. Host, Idempotency-Key, X-Schedule-* and those of the connection are ours.',
    example: { accept: 'application/json' },
    flag: '--header <name:value>',
    isEditable: true,
  },
  {
    name: 'body',
    is: 'any',
    does: 'Text or JSON, in the place of the envelope of the task.',
    example: { text: 'Good morning' },
    flag: '--body <text or json>',
    isEditable: true,
  },
  {
    name: 'auth',
    is: 'object',
    does: 'How the call shows who makes it, by names of secrets.',
    example: authKinds[0].example,
    kinds: authKinds,
    words: { read: authWords, tell: authTold },
    flag: '--auth <words or json>',
    isEditable: true,
  },
  {
    name: 'timeout',
    is: 'length',
    does: 'How long one request may take; policies.timeout bounds the attempt, and the smaller wins.',
    example: 'PT10S',
    flag: '--http-timeout <length>',
    isEditable: true,
  },
  {
    name: 'expect_status',
    is: 'wholes',
    does: 'The statuses that are a success: one, or a list. 200 to 299 without it.',
    example: [200, 404],
    flag: '--expect-status <list>',
    isEditable: true,
  },
  {
    name: 'select',
    is: 'text',
    does: 'A JSONata expression over the body; its result is the value.',
    example: 'rates.EUR',
    flag: '--select <jsonata>',
    isEditable: true,
  },
  {
    name: 'template',
    is: 'text',
    does: 'Liquid over status, headers, body, value and previous: the text of the result.',
    example: 'The price is {{ body.price }}.',
    flag: '--template <liquid>',
    isEditable: true,
  },
  {
    name: 'watch',
    is: 'object',
    does: 'Tells only what is new: {on: body | value, first: silent | send}.',
    example: { on: 'value', first: 'silent' },
    flag: '--watch <body|value>',
    main: 'on',
    parts: { on: ['body', 'value'], first: ['silent', 'send'] },
    isEditable: true,
  },
];

export const httpForm = {
  kind: 'http',
  words: {
    name: 'http call',
    menu: 'Call an address on time: /fetch every day at 9 https://api.example.com/price {{ body.price }}',
    ask: 'What should I fetch?',
    tries: ['https://api.example.com/price', 'POST https://example.com/hook', 'api.example.com/price {{ body.price }}'],
    when: 'When should I fetch it?',
    examples: [
      [
        '/fetch every day at 9 https://api.example.com/price {{ body.price }}',
        'reads JSON and sends what you want of it',
      ],
      ['/fetch every hour https://example.com/news', 'sends what the address answers'],
      ['/fetch every weekday at 18:00 POST https://example.com/hook', 'calls a webhook with the task as JSON'],
      ['/edit #3 watch body', 'from now on only what has changed, with the difference'],
      ['/edit #3 auth bearer SHOP_TOKEN', 'sends the secret SHOP_TOKEN, which nobody is shown'],
      ['/fetch', 'asks step by step, with buttons'],
    ],
    notes: [
      'Every call carries an Idempotency-Key, the same for every attempt of a slot: a target that honours it has one effect, and any other may see a call twice after a crash or a lost answer.',
      'Test now, below the preview, calls it once and shows the answer to you alone.',
    ],
  },
  fields,
  text: 'note',
  example: {
    kind: 'http',
    method: 'GET',
    url: 'https://api.example.com/price',
    template: 'The price is {{ body.price }}.',
  },
  command: { name: 'fetch', also: ['http', 'get', 'curl', 'call', 'webhook'], read },
  brief: (spec) => `${methodOf(spec)} ${withoutSecrets(textOf(spec['url']))}`,
  sent,
  title: (spec) => titleOf(textOf(spec['url'])),
} as const satisfies ActionForm;

function methodOf({ method, body }: ActionSpec): string {
  if (typeof method === 'string') return method.toUpperCase();
  return body === undefined ? 'GET' : 'POST';
}

/** Settings of the request, and none of those for the answer. */
function sent(spec: ActionSpec): readonly string[] {
  const names = new Set(['query', 'headers', 'body', 'auth']);
  const told = settingLines({ fields: fields.filter(({ name }) => names.has(name)) }, onlyOf(spec, names));
  const isBare = ['GET', 'HEAD'].includes(methodOf(spec)) || spec['body'] !== undefined;
  return [
    ...told.map(([name, value]) => (value.includes('\n') ? `${name}:\n${value}` : `${name}: ${value}`)),
    ...(isBare ? [] : ['body: the task as JSON, with its title, its time, its text and its context']),
  ];
}

function onlyOf(spec: ActionSpec, names: ReadonlySet<string>): ActionSpec {
  return { ...Object.fromEntries(Object.entries(spec).filter(([name]) => names.has(name))), kind: spec.kind };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The host and the path, which tell more than the scheme and the parameters do. */
function titleOf(url: string): string {
  const bare = withoutSecrets(url)
    .replace(/\{\{[^}]*\bsecrets\b[^}]*\}\}/g, '…')
    .replace(/^https?:\/\/(?:[^/@]*@)?/i, '')
    .replace(/[?#].*$/s, '')
    .replace(/\/$/, '');
  return bare.length <= 60 ? bare : `${bare.slice(0, 59)}…`;
}

const schemed = /^(?:https?):\/\/\S/i;
/** A name with a top-level domain, as dates and hours have none; or an address of this network with its port or its path. */
const hosted = /^(?:(?:[\w-]+\.)+[a-z]{2,}|localhost|\d{1,3}(?:\.\d{1,3}){3}(?=[:/]))(?::\d{1,5})?(?:[/?#]\S*)?$/i;

/** Everything before the address is the time, but for a method right before it; everything behind it is the template. */
function read(words: string): ReadAction | null {
  // A template in an address may have spaces in it.
  const tokens = [...words.matchAll(/(?:\{\{[\s\S]*?\}\}|\S)+/g)];
  const at = tokens.findIndex(([token]) => isAddress(token));
  const [found, named] = [tokens[at], tokens[at - 1]];
  if (found === undefined) {
    const scheme = tokens.find(([token]) => /^[a-z][a-z\d+.-]*:\/\//i.test(token))?.[0];
    if (scheme !== undefined) throw refused('url', `${scheme.slice(0, 60)} is not an http or https address.`);
    return null;
  }
  const method = methodIn(named?.[0] ?? '');
  const before = words.slice(0, (method === null ? found.index : named?.index) ?? 0).trim();
  const behind = words.slice(found.index + found[0].length);
  const isBare = !schemed.test(found[0]);
  const url = isBare ? `https://${found[0]}` : found[0];
  const { watch, after } = watchIn(behind.trim());
  const spec = (template: string): ActionSpec => {
    refuseAnother(template);
    return {
      kind: 'http',
      ...(method === null || method === 'GET' ? {} : { method }),
      url,
      ...(watch === undefined ? {} : { watch }),
      ...(template === '' ? {} : { template }),
    };
  };
  return {
    before,
    after,
    ...(/^[^\S\n]*\n/.test(behind) ? { isApart: true } : {}),
    ...(method === null ? doubtIn(named?.[0] ?? '') : {}),
    spec: spec(after),
    assumed: isBare ? ['https'] : [],
    with: spec,
  };
}

function isAddress(token: string): boolean {
  return schemed.test(token) || hosted.test(token);
}

const watchWords = String.raw`(?:and\s+)?watch\s+(?:the\s+)?(body|page|value)(?:\s+first\s+(silent|send))?(?![\w:])`;
const watchAlone = /^watch$/i;
const watchAtEnds = [new RegExp(`^${watchWords}`, 'i'), new RegExp(`(?:^|\\s)${watchWords}$`, 'i')];

/** "Watch body", before the template or behind it: of the page tells changes alone. */
function watchIn(words: string): { readonly watch?: object; readonly after: string } {
  if (watchAlone.test(words)) return { watch: { on: 'body' }, after: '' };
  for (const end of watchAtEnds) {
    const [found, on = '', first] = end.exec(words) ?? [];
    if (found === undefined) continue;
    const watch = { on: /^value$/i.test(on) ? 'value' : 'body' };
    const after = words.replace(end, '').trim();
    return { watch: first === undefined ? watch : { ...watch, first: first.toLowerCase() }, after };
  }
  return { after: words };
}

/** An address in words without a template is hardly meant to be said. */
function refuseAnother(text: string): void {
  const tokens = /\{[{%]/.test(text) ? [] : text.split(/\s+/);
  const other = tokens.find((token, index) => schemed.test(token) || (index === 0 && hosted.test(token)));
  if (other === undefined) return;
  throw refused(
    'url',
    `${withoutSecrets(other).slice(0, 60)} is a second address, and a task calls one. Make another task for it.`,
  );
}

function methodIn(word: string): string | null {
  return httpMethods.find((one) => one === word.toUpperCase()) ?? null;
}

/** Methods that are none of ours, and slips of the pen, look like one. */
function doubtIn(word: string): Pick<ReadAction, 'doubt'> {
  if (!/^[A-Z]{3,12}$/.test(word) && !/^(?:options|trace|connect)$/i.test(word)) return {};
  const message = `${word.toUpperCase()} is not one of ${httpMethods.join(', ')}. A name goes before the time.`;
  return { doubt: { word, fault: refused('method', message) } };
}

function refused(field: string, message: string): AppError {
  const example = 'For example: every day at 9 GET https://api.example.com/price';
  return new AppError('invalid_action', `action.${field}: ${message} ${example}`, {
    details: { field: `action.${field}` },
  });
}
