import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { manualPages } from '../../src/http/docs/manual.ts';
import { renderMarkdown } from '../../src/http/docs/markdown.ts';
import { aDoor, token } from './door.ts';

const folder = new URL('../../docs/', import.meta.url);
const markdown = (name: string) => readFileSync(new URL(`${name}.md`, folder), 'utf8');
const names = manualPages.map(({ name }) => name);

async function look(path: string) {
  const response = await aDoor().app.request(`http://cronogram.example:8787${path}`);
  return { response, text: await response.clone().text() };
}

const linksIn = (html: string) => [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link]) => link ?? '');
const idsIn = (html: string) => [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id ?? '');

describe('the manual', () => {
  it('has a page for each file of the folder docs, under the title of that file', () => {
    const files = readdirSync(folder).filter((name) => name.endsWith('.md'));
    expect(names.map((name) => `${name}.md`).toSorted()).toEqual(files.toSorted());
    for (const { name, title } of manualPages) expect(markdown(name).split('\n')[0]).toBe(`# ${title}`);
  });

  it.each(names)('serves %s as HTML that runs nothing and loads nothing from elsewhere', async (name) => {
    const { response, text } = await look(`/docs/${name}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8']);
    expect(text).not.toMatch(/<script|<iframe|\s(?:on\w+|style)=/i);
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(text) ?? [];
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}';`);
    expect(policy).not.toMatch(/script-src|unsafe/);
    expect(text).not.toContain(token);
    expect(text.length).toBeGreaterThan(markdown(name).length);
  });

  it.each(['/docs', ...names.map((name) => `/docs/${name}`)])(
    'leads from %s only to places that exist',
    async (path) => {
      const { text } = await look(path);
      const ids = idsIn(text);
      expect(new Set(ids).size).toBe(ids.length);
      const links = linksIn(text);
      for (const name of names) expect(links).toContain(`/docs/${name}`);
      expect(links).toContain(path === '/docs' ? '#start' : '/docs');
      for (const link of new Set(links)) {
        if (/^(?:https?:|data:,$)/.test(link)) continue;
        const [target = '', id = null] = link.split('#');
        const page = target === '' ? { response: null, text } : await look(target);
        if (page.response !== null) expect([link, page.response.status]).toEqual([link, 200]);
        if (id !== null) expect(idsIn(page.text), link).toContain(id);
      }
    },
  );

  it('serves its picture', async () => {
    const { response } = await look('/docs/sandbox.png');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.equals(readFileSync(new URL('sandbox.png', folder)))).toBe(true);
  });

  it.each(['/docs/nothing', '/docs/chat.md', '/docs/../package.json', '/docs/chat/'])(
    'does not know %s',
    async (path) => {
      const { response, text } = await look(path);
      expect(response.status).toBe(404);
      expect(JSON.parse(text)).toMatchObject({ error: { code: 'not_found' } });
    },
  );

  it('refuses another method in the usual way', async () => {
    const response = await aDoor().app.request('/docs/chat', { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});

describe('markdown', () => {
  const rendered = (text: string) => renderMarkdown(text, (href) => (href.startsWith('ok') ? `/docs/${href}` : null));

  it('takes raw HTML for text and leaves its comments out', () => {
    const { body } = rendered('<!-- a mark -->\n\n<script>alert(1)</script>\n\nhi <b onclick="x">there</b> `<i>`');
    expect(body.text).not.toMatch(/<(?:script|b|i)\b|a mark/);
    expect(body.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(body.text).toContain('<code>&lt;i&gt;</code>');
  });

  it('keeps the text of a link that leads nowhere', () => {
    const { body } = rendered('[a](javascript:alert(1)) [`b`](ok"x) ![c](nowhere.png)');
    expect(body.text).toBe('<p>a <a href="/docs/ok&quot;x"><code>b</code></a> c</p>\n');
  });

  it('tells each cell of a table the title of its column', () => {
    const { text } = rendered('| What | `How` many |\n| --- | ---: |\n| a \\| b | **2** |').body;
    expect(text).toContain('<th scope="col" class="number"><code>How</code> many</th>');
    expect(text).toContain('<td class="words" data-title="What">a | b</td>');
    expect(text).toContain('<td class="number" data-title="How many"><strong>2</strong></td>');
  });

  it('names headings as GitHub does', () => {
    const { body, parts } = rendered(
      '# One\n\n## Why did it not `run`?\n\n## Two & three\n\n## Two & three\n\n### Four',
    );
    expect(parts).toEqual([
      { id: 'why-did-it-not-run', title: 'Why did it not run?' },
      { id: 'two--three', title: 'Two & three' },
      { id: 'two--three-1', title: 'Two & three' },
    ]);
    expect(idsIn(body.text)).toEqual(['one', ...parts.map(({ id }) => id), 'four']);
  });
});
