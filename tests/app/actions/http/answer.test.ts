import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../../../src/app/actions/http/answer.ts';
import { wordsOfPage } from '../../../../src/app/actions/http/page.ts';
import { hostEndOf, isExpected, retryAfterMs, unanswered, unwanted } from '../../../../src/app/actions/http/verdict.ts';
import type { OutboundEnd } from '../../../../src/app/ports/outbound.ts';
import { start } from '../../../support/fakes.ts';

const bytesOf = (body: string | readonly number[]) =>
  typeof body === 'string' ? new TextEncoder().encode(body) : Uint8Array.from(body);

const answered = (
  body: string | readonly number[],
  headers: Readonly<Record<string, string>> = {},
  { status = 200, url = 'https://example.com/a/report' } = {},
): Extract<OutboundEnd, { is: 'answered' }> => ({ is: 'answered', status, headers, body: bytesOf(body), url });

const read = (...given: Parameters<typeof answered>) => readAnswer(answered(...given));
const type = (mime: string) => ({ 'content-type': mime });
const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0];

describe('an answer', () => {
  it.each([
    ['application/json', '{"a":1}', { a: 1 }, '{\n  "a": 1\n}'],
    ['application/problem+json; charset=utf-8', '[1]', [1], '[\n  1\n]'],
    ['text/json', '"x"', 'x', 'x'],
    ['application/json', 'no json', 'no json', 'no json'],
    ['text/plain', '{"a":1}', '{"a":1}', '{"a":1}'],
    ['', '{"a":1}', { a: 1 }, '{\n  "a": 1\n}'],
    ['', 'just text', 'just text', 'just text'],
    ['application/octet-stream', 'just text', 'just text', 'just text'],
    ['text/html; charset=utf-8', '<p>é</p>', '<p>é</p>', 'é'],
    ['application/atom+xml', '<a/>', '<a/>', '<a/>'],
    ['text/plain; charset="no-such"', 'é', 'é', 'é'],
  ])('of %s is read: %s', (mime, text, body, words) => {
    expect(read(text, type(mime))).toEqual({
      status: 200,
      headers: type(mime),
      body,
      text: words,
      file: null,
      summary: null,
    });
  });

  it('that is JSON of many levels costs no more than what came, and is a text where nobody could go through it', () => {
    const nested = (levels: number, inner = '') => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;
    const json = type('application/json');
    expect(read(nested(130_000), json)).toMatchObject({ body: nested(130_000), text: nested(130_000) });
    const wide = nested(400, `${'1,'.repeat(100_000)}"]\\"[{"`);
    expect(read(wide, json)).toMatchObject({ body: expect.any(Array) as object, text: wide });
    expect(read(nested(3), json)).toMatchObject({ body: [[[]]], text: '[\n  [\n    []\n  ]\n]' });
    const open = `["${'\\"'.repeat(100_000)}`;
    expect(read(open, json)).toMatchObject({ body: open, text: open });
  });

  it('in another charset, with invalid UTF-8 or with NUL is read as far as it can be', () => {
    expect(read([0xe9], type('text/plain; charset=ISO-8859-1')).body).toBe('é');
    expect(read([0x61, 0xff, 0x00, 0x62], type('text/plain')).body).toBe('a\ufffd\ufffdb');
    expect(read([0x22, 0xff, 0x22], type('application/json')).body).toBe('\ufffd');
  });

  it('without a body has none', () => {
    expect(read('', type('image/png'))).toMatchObject({ body: null, text: '', file: null });
  });

  it.each([
    ['image/png', png, 'image/png', 'report.png'],
    ['text/plain', png, 'image/png', 'report.png'],
    ['application/json', [0xff, 0xd8, 0xff, 0xe0], 'image/jpeg', 'report.jpg'],
    ['', [0x25, 0x50, 0x44, 0x46, 0x2d, 0x31], 'application/pdf', 'report.pdf'],
    ['', [0, 1, 2], 'application/octet-stream', 'report.bin'],
    ['application/octet-stream', [0x61, 0xff], 'application/octet-stream', 'report.bin'],
    ['application/msword', [1, 2], 'application/msword', 'report.bin'],
  ])('of %s that is a file is kept as one', (mime, bytes, kept, name) => {
    const { body, text, file } = read(bytes, type(mime));
    expect({ body, text, file }).toEqual({ body: null, text: null, file: { name, mime: kept, bytes: bytesOf(bytes) } });
  });

  it('that is too long for a chat is a file, whatever is in it', () => {
    const { body, file } = read('x'.repeat(262_145), type('text/csv'));
    expect([body, file?.name, file?.mime]).toEqual([null, 'report.csv', 'text/csv']);
  });

  it.each([
    [
      'text/csv',
      `day,cents\n${'2026-11-19,400\n'.repeat(20_000)}`,
      /^day,cents\n2026[\s\S]*…\n\nAll of it is in the file \(293 kB\)\.$/,
    ],
    ['application/json', JSON.stringify({ items: 'x'.repeat(300_000), at: 1 }), /^JSON, 293 kB: items, at\./],
    ['application/json', `[${'1,'.repeat(1_000_000)}1]`, /^\[1,1,[\s\S]*…\n\nAll of it is in the file \(1\.9 MB\)\.$/],
    [
      'text/html',
      `<style>${'a'.repeat(20_000)}</style><p>Hello</p>${'<p>there</p>'.repeat(30_000)}`,
      /^Hello\nthere\n/,
    ],
    ['text/html', `<style>${'a'.repeat(2_000_000)}</style><p>Hello</p>`, /^…/],
  ])('of %s that is too long for a chat has a summary above its file', (mime, text, told) => {
    const { summary, file } = read(text, type(mime));
    expect(summary).toMatch(told);
    expect(summary?.length).toBeLessThan(1000);
    expect(file?.bytes).toEqual(bytesOf(text));
  });

  it('that the other side sends as a file is one, and can be read all the same', () => {
    const sent = { ...type('text/csv'), 'content-disposition': 'attachment; filename="week.csv"' };
    expect(read('a,b\n1,2\n', sent)).toMatchObject({
      body: 'a,b\n1,2\n',
      text: 'a,b\n1,2\n',
      file: { name: 'week.csv', mime: 'text/csv' },
      summary: null,
    });
    expect(read('a,b\n'.repeat(2000), sent).summary).toMatch(/^a,b\n[\s\S]*All of it is in the file/);
    const json = { ...type('application/json'), 'content-disposition': 'attachment; filename="f.txt"' };
    expect(read('{"a":1}', json)).toMatchObject({ body: { a: 1 }, file: null });
  });

  it.each([
    ['attachment; filename="Week 7.pdf"', 'Week 7.pdf'],
    ['attachment; filename=a.pdf', 'a.pdf'],
    [`attachment; filename="x.pdf"; filename*=UTF-8''%C3%BCber.pdf`, 'über.pdf'],
    ['attachment; filename="../../etc/passwd"', 'passwd.png'],
    ['attachment; filename="..\\\\evil\u202egnp.exe"', 'evilgnp.exe'],
    [`attachment; filename="${'n'.repeat(200)}.png"`, `${'n'.repeat(96)}.png`],
    ['attachment; filename=""', 'report.png'],
  ])('that is called %j has a name that harms nobody', (disposition, name) => {
    expect(read(png, { 'content-disposition': disposition }).file?.name).toBe(name);
  });

  it('is named after its address, or is a file', () => {
    const named = (url: string) => read(png, {}, { url }).file?.name;
    expect(named('https://example.com/x/photo%201.png?size=7')).toBe('photo 1.png');
    expect(named('https://example.com/')).toBe('file.png');
    expect(named('https://example.com/%E0%A4%A')).toBe('%E0%A4%A.png');
  });
});

describe('a page', () => {
  it('has no title in its words, where it has no head around it either', () => {
    expect(wordsOfPage('<!doctype html><title>News</title><h1>News</h1><p>Rain.')).toBe('News\nRain.');
  });

  it.each([
    ['<h1>News</h1><p>Rain <b>until</b> <i>Thursday</i>.</p><ul><li>a<li>b</ul>', 'News\nRain until Thursday.\na\nb'],
    ['<!doctype html><head><title>x</title></head><body>Hello<br>there', 'Hello\nthere'],
    ['a<script>if (1 < 2) alert("</p>")</script>b<style>p > a {}</style>c', 'a\n\nb\n\nc'.replaceAll('\n\n', '\n')],
    ['a<!-- <p>not > seen</p> -->b', 'ab'],
    ['&lt;b&gt; &amp;amp; &#233;&#xE9; &nbsp;x &unknown; &#0; &#xD800;', '<b> &amp; éé x &unknown; &#0; &#xD800;'],
    ['a < b and <', 'a < b and <'],
    ['<p title="x">one</p\n><P>two', 'one\ntwo'],
    ['<a href="/" title="<script>">one</a> two', '">one two'],
    ['<p>a\t b\r\n  c &#10; d', 'a b\nc\nd'],
    ['', ''],
  ])('%j is read without its tags', (html, words) => {
    expect(wordsOfPage(html)).toBe(words);
  });
});

describe('what an answer means', () => {
  it('is as expected from 200 to 299, or where its status is named', () => {
    const all = [199, 200, 204, 299, 301, 404];
    expect(all.filter((status) => isExpected({ expects: null }, status))).toEqual([200, 204, 299]);
    expect(all.filter((status) => isExpected({ expects: [404, 200] }, status))).toEqual([200, 404]);
  });

  it.each([
    [400, 'giveUp'],
    [404, 'giveUp'],
    [409, 'giveUp'],
    [301, 'giveUp'],
    [200, 'giveUp'],
    [408, 'retry'],
    [425, 'retry'],
    [429, 'retry'],
    [500, 'retry'],
    [503, 'retry'],
  ])('of status %i that was not expected is %s', (status, is) => {
    const answer = read('{"why": "it   is\\nso"}', type('application/json'), { status });
    expect(unwanted('example.com', answer, null)).toEqual({
      is,
      error: `example.com answered ${status}: { "why": "it is\\nso" }`,
      httpStatus: status,
      data: { status, ok: false, headers: type('application/json'), body: { why: 'it   is\nso' } },
    });
  });

  it('is data as well where there was none', () => {
    const end = { is: 'failed', type: 'TIMEOUT', error: 'no answer within 5 s' } as const;
    const data = {
      status: null,
      ok: false,
      headers: {},
      body: null,
      error: { type: 'TIMEOUT', message: 'no answer within 5 s' },
    };
    const { error } = end;
    expect(unanswered(end)).toEqual({ is: 'retry', error, data });
    expect(unanswered({ ...end, isFinal: true })).toEqual({ is: 'giveUp', error, data });
  });

  it('is that the settings cannot be carried out where no call may go', () => {
    expect(unanswered({ is: 'refused', error: 'it is a private address' })).toEqual({
      is: 'giveUp',
      isInvalid: true,
      error: 'action.url: it is a private address',
    });
  });

  it.each([
    ['120', 429, 120_000],
    ['0', 503, 0],
    ['1.5', 429, 1500],
    ['Wed, 18 Nov 2026 09:01:00 GMT', 503, 60_000],
    ['Wed, 18 Nov 2026 08:00:00 GMT', 503, 0],
    ['soon', 429, null],
    ['-5', 429, null],
    ['2026-11-18 09:01', 429, null],
    ['120', 404, null],
    ['120', 200, null],
  ])('asks to wait: %s with %i', (header, status, ms) => {
    expect(retryAfterMs(answered('', { 'retry-after': header }, { status }), start)).toBe(ms);
  });

  it('says of the host whether it works', () => {
    const end = (status: number, headers = {}) => hostEndOf(answered('', headers, { status }), false);
    expect([end(200), end(404), end(429), end(500), end(503, { 'retry-after': '5' })]).toEqual([
      'good',
      'good',
      'good',
      'bad',
      'good',
    ]);
    const failed = { is: 'failed', type: 'NETWORK', error: 'reset' } as const;
    expect([hostEndOf(failed, false), hostEndOf(failed, true)]).toEqual(['bad', 'unsaid']);
    expect(hostEndOf({ is: 'refused', error: 'private' }, false)).toBe('unsaid');
  });
});
