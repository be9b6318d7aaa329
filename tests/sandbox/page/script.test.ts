import { afterAll, beforeAll, expect, test, vi } from 'vitest';

/** The fake has what the page uses of an element while it makes one, and shows itself as a bracket around its children. */
class FakeElement {
  readonly #name: string;
  readonly #children: unknown[] = [];
  #href = '';

  constructor(name: string) {
    this.#name = name;
  }

  setAttribute(name: string, value: string): void {
    if (name === 'href') this.#href = ` ${value}`;
  }

  addEventListener(): void {}

  append(...children: readonly unknown[]): void {
    this.#children.push(...children);
  }

  toString(): string {
    return `(${this.#name}${this.#href}:${this.#children.join('')})`;
  }
}

beforeAll(() => {
  vi.stubGlobal('document', { createElement: (name: string) => new FakeElement(name) });
});
afterAll(() => {
  vi.unstubAllGlobals();
});

/** Loads a module of the page as the browser does. */
async function moduleOf(name: string): Promise<unknown> {
  const address = new URL(`../../../src/sandbox/page/script/${name}`, import.meta.url).href;
  const loaded: unknown = await import(/* @vite-ignore */ address);
  return loaded;
}

interface Topic {
  readonly thread_id: number;
  readonly is_closed: boolean;
  readonly last_message_id: number | null;
}

test('topics stand with the newest message first, and fold behind a line that counts them', async () => {
  const { foldTopics } = (await moduleOf('shown.js')) as {
    readonly foldTopics: (
      topics: readonly Topic[],
      stays: (topic: Topic) => boolean,
    ) => { readonly shown: readonly Topic[]; readonly folded: readonly Topic[] };
  };
  const topics = Array.from({ length: 12 }, (_, at) => ({
    thread_id: at + 1,
    is_closed: at === 11,
    last_message_id: 100 + at,
  }));
  const ids = (some: readonly Topic[]) => some.map((topic) => topic.thread_id);
  const none = foldTopics(topics, () => false);
  expect([ids(none.shown), ids(none.folded)]).toEqual([
    [11, 10, 9, 8, 7, 6, 5, 4],
    [3, 2, 1, 12],
  ]);
  expect(ids(foldTopics(topics, ({ thread_id: id }) => id === 12).shown)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 12]);
  expect(foldTopics(topics.slice(0, 9), () => false).folded).toEqual([]);
});

test.each([
  ['image/png', 'photo'],
  ['image/gif', 'animation'],
  ['audio/ogg', 'voice'],
  ['audio/mpeg', 'audio'],
  ['video/mp4', 'video'],
  ['application/pdf', 'document'],
  ['', 'document'],
])('a file of type "%s" is sent as %s, and may be sent as a document', async (type, kind) => {
  const { kindsOf } = (await moduleOf('shown.js')) as { readonly kindsOf: (type: string) => readonly string[] };
  expect(kindsOf(type)[0]).toBe(kind);
  expect(kindsOf(type)).toContain('document');
});

interface Entity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
}

async function rendered(text: string, entities: readonly Entity[]): Promise<string> {
  const { textNodes } = (await moduleOf('chat/entities.js')) as {
    readonly textNodes: (text: string, entities: readonly Entity[]) => readonly unknown[];
  };
  return textNodes(text, entities).join('');
}

test.each<readonly [string, string, readonly Entity[], string]>([
  ['no entity', 'plain <b>', [], 'plain <b>'],
  [
    'nested ones, told in any order',
    'a bold both b',
    [
      { type: 'italic', offset: 7, length: 4 },
      { type: 'bold', offset: 2, length: 9 },
    ],
    'a (strong:bold (em:both)) b',
  ],
  ['UTF-16 units, as the Bot API counts', '👍 yes', [{ type: 'bold', offset: 3, length: 3 }], '👍 (strong:yes)'],
  [
    'one that goes beyond the text, and one outside of it',
    'abc',
    [
      { type: 'bold', offset: 1, length: 99 },
      { type: 'code', offset: 50, length: 1 },
    ],
    'a(strong:bc)',
  ],
  [
    'ones that cross: the later one is cut',
    'abcd',
    [
      { type: 'bold', offset: 0, length: 3 },
      { type: 'italic', offset: 2, length: 2 },
    ],
    '(strong:ab(em:c))d',
  ],
  [
    'a block of code, without the line breaks around it',
    'x\ncode\ny',
    [
      { type: 'code', offset: 2, length: 4 },
      { type: 'pre', offset: 2, length: 4 },
    ],
    'x(pre:(code:code))y',
  ],
  [
    'links that a browser opens',
    'a b',
    [
      { type: 'text_link', offset: 0, length: 1, url: 'https://example.org/x' },
      { type: 'text_link', offset: 2, length: 1, url: 'javascript:alert(1)' },
    ],
    '(a https://example.org/x:a) (span:b)',
  ],
  [
    'an address without a scheme',
    'see example.org',
    [{ type: 'url', offset: 4, length: 11 }],
    'see (a http://example.org/:example.org)',
  ],
])('a text with %s', async (_what, text, entities, shown) => {
  expect(await rendered(text, entities)).toBe(shown);
});

interface Listed {
  readonly message_id: number;
  readonly ephemeral_id: number | null;
  readonly only_for: string | null;
  readonly replaces: number | null;
}

/** Lists the marks of what the page shows to one person. */
async function visible(messages: readonly Listed[], actor: string): Promise<readonly string[]> {
  const { shown, visibleMessages } = (await moduleOf('shown.js')) as {
    readonly shown: { messages: readonly Listed[]; as: string };
    readonly visibleMessages: () => readonly Listed[];
  };
  const { idOf } = (await moduleOf('chat/bubbles.js')) as { readonly idOf: (message: Listed) => string };
  Object.assign(shown, { messages, as: actor });
  return visibleMessages().map(idOf);
}

test('the page shows each person what is for everybody or for this one, each in its place', async () => {
  const plain = (message_id: number) => ({ message_id, ephemeral_id: null, only_for: null, replaces: null });
  const secret = { message_id: 0, ephemeral_id: 7, only_for: 'ben', replaces: 2 };
  const messages = [plain(2), plain(3), secret];
  expect(await visible(messages, 'ada')).toEqual(['m2', 'm3']);
  expect(await visible(messages, 'ben')).toEqual(['m3', 'e7']);
});

test('the list that stands alone keeps the chat that was left open, so that its topics can be reached', async () => {
  interface Chat {
    readonly key: string;
  }
  const { chatAt, shown } = (await moduleOf('shown.js')) as {
    readonly chatAt: (chats: readonly Chat[], key: string, isListAlone: boolean) => Chat;
    readonly shown: { chatKey: string };
  };
  const chats = ['ben', 'ada', 'lab'].map((key) => ({ key }));
  shown.chatKey = 'lab';
  expect(chatAt(chats, '', true).key).toBe('lab');
  expect(chatAt(chats, '', false).key).toBe('ada');
  expect(chatAt(chats, 'ben', true).key).toBe('ben');
  expect(chatAt(chats, 'gone', false).key).toBe('ada');
});

test('times stand on the page as the bot writes them, whatever the language of the browser', async () => {
  const times = (await moduleOf('times.js')) as Readonly<Record<string, (ms: number, zone?: string) => string>>;
  const at = new Date(2026, 10, 20, 21, 5, 7).getTime();
  expect(times['timeOf']?.(at)).toBe('21:05');
  expect(times['secondOf']?.(at)).toBe('21:05:07');
  expect(times['dayOf']?.(at)).toBe('Fri, 20 Nov 2026');
});
