import { describe, expect, it } from 'vitest';
import { partsOf, type Part, type Showing } from '../../../src/domain/files/parts.ts';
import { summarized } from '../../../src/domain/files/summary.ts';
import type { MediaKind } from '../../../src/domain/shown.ts';

const megabyte = 1_048_576;

function file(kind: MediaKind, name: string, more: { readonly size?: number; readonly caption?: string } = {}) {
  return { kind, sha256: `hash of ${name}`, name, mime: 'x/y', size: 1000, ...more };
}

const photos = (count: number, size = 1000) =>
  Array.from({ length: count }, (_, index) => file('photo', `p${index + 1}`, { size }));

/** A part in a few words: `words`, `[kind name] caption` or `[3 photos] captions`. */
function told({ text, media, album }: Part): string {
  if (album !== undefined) return `[${album.length}] ${album.map(({ caption }) => caption).join(' ')}`;
  if (media === undefined) return text;
  return `[${media.kind} ${'name' in media ? media.name : media.fileId}] ${text}`;
}

const plan = (showing: Showing) => partsOf(showing).map(told);

describe('the messages of a result', () => {
  const long = 'x'.repeat(1025);
  const kept = { kind: 'photo', fileId: 'AgAC' } as const;
  it.each<[string, Showing, string[]]>([
    ['words alone', { text: 'hi' }, ['hi']],
    ['nothing', { text: ' ' }, []],
    ['a file with words', { text: 'hi', files: [file('document', 'a.pdf')] }, ['[document a.pdf] hi']],
    ['a file without words', { text: '', files: [file('document', 'a.pdf')] }, ['[document a.pdf] a.pdf']],
    ['its own caption', { text: '', files: [file('video', 'v', { caption: 'Cat' })] }, ['[video v] Cat']],
    [
      'words and its own caption',
      { text: 'hi', files: [file('photo', 'p', { caption: 'Cat' })] },
      ['[photo p] hi\n\nCat'],
    ],
    ['long words and a file', { text: long, files: [file('photo', 'p')] }, [long, '[photo p] p']],
    [
      'words that leave no room for its caption',
      { text: 'x'.repeat(1023), files: [file('photo', 'p', { caption: 'Cat' })] },
      ['x'.repeat(1023), '[photo p] Cat'],
    ],
    [
      'several files',
      { text: 'hi', files: [file('document', 'd'), file('audio', 'a')] },
      ['hi', '[audio a] a', '[document d] d'],
    ],
    [
      'every kind, in the order of kinds and then of the result',
      {
        text: '',
        files: [
          file('document', 'd1'),
          file('audio', 'a'),
          file('video', 'v'),
          file('photo', 'p1'),
          file('animation', 'g'),
          file('photo', 'p2'),
          file('document', 'd2'),
        ],
      },
      ['[2] p1 p2', '[animation g] g', '[video v] v', '[audio a] a', '[document d1] d1', '[document d2] d2'],
    ],
    ['an album with words, which bear the buttons', { text: 'hi', files: photos(3) }, ['[3] p1 p2 p3', 'hi']],
    ['an album without words', { text: '', files: photos(2) }, ['[2] p1 p2', '2 files']],
    ['eleven photos', { text: 'hi', files: photos(11) }, ['[6] p1 p2 p3 p4 p5 p6', '[5] p7 p8 p9 p10 p11', 'hi']],
    [
      'photos that are too much for one request',
      { text: 'hi', files: photos(6, 10 * megabyte) },
      ['hi', '[5] p1 p2 p3 p4 p5', '[photo p6] p6'],
    ],
    [
      'a file that is too large',
      { text: 'hi', files: [file('video', 'v', { size: 73 * megabyte }), file('photo', 'p')] },
      ['[photo p] hi\n\n(v, 73 MB, is missing: Telegram takes 50 MB at most.)'],
    ],
    [
      'a file that was not kept',
      { text: '', files: [{ name: 'a.zip', size: 2048, reason: 'the chat has no room left for files' }] },
      ['(a.zip, 2 kB, is missing: the chat has no room left for files.)'],
    ],
    ['a picture of a person', { text: 'hi', media: kept }, ['[photo AgAC] hi']],
    ['a picture of a person alone', { text: '', media: kept }, ['[photo AgAC] ']],
    ['a picture of a person with long words', { text: long, media: kept }, ['[photo AgAC] ', long]],
    ['an album of a person', { text: 'hi', album: [kept, kept] }, ['[2]  ', 'hi']],
  ])('of %s', (_name, showing, parts) => {
    expect(plan(showing)).toEqual(parts);
  });

  it('of fifty files are as many, and of more the rest is counted', () => {
    const parts = partsOf({ text: '', files: photos(53) });
    expect(parts.map(({ album }) => album?.length)).toEqual([10, 10, 10, 10, 10, undefined]);
    expect(parts.at(-1)?.text).toBe('(3 more files are left out: a result shows 50.)');
    const most = partsOf({ text: 'hi', files: photos(50).map((each) => ({ ...each, kind: 'document' as const })) });
    expect(most).toHaveLength(51);
  });

  it('name the first files that are missing, and count the others', () => {
    const left = Array.from({ length: 12 }, (_, index) => ({ name: `f${index}`, size: 1, reason: 'it is broken' }));
    const [part] = partsOf({ text: '', files: left });
    expect(part?.text.split('\n\n')).toHaveLength(11);
    expect(part?.text).toMatch(/\(f9, 1 byte, is missing: it is broken\.\)\n\n\(2 more files are missing\.\)$/);
  });

  it('have captions that Telegram takes, and none that is empty', () => {
    const odd = [
      file('document', '\n'),
      file('document', 'x'.repeat(300)),
      file('document', 'd', { caption: `${'y'.repeat(1020)} z z z` }),
    ];
    const captions = partsOf({ text: '', files: odd }).map(({ text }) => text);
    expect(captions).toEqual(['file', 'x'.repeat(255), `${'y'.repeat(1020)} z z`]);
  });
});

describe('a text that is too long for a message', () => {
  it('is left as it is up to the length of one', () => {
    expect(summarized('x'.repeat(4096))).toBeNull();
  });

  it('is a file below its beginning', () => {
    const text = `Head line\n\n${'many words '.repeat(500)}`;
    const { summary, file: made } = summarized(text) ?? {};
    expect(made).toEqual({ name: 'result.txt', mime: 'text/plain', text });
    expect(summary).toMatch(/^Head line\n\nmany words .*\n…\n\nAll of it is in the file \(5\.4 kB\)\.$/s);
    expect(summary?.length).toBeLessThan(1024);
  });

  it.each([
    [JSON.stringify({ name: 'x'.repeat(5000), price: 3, 'in stock': true }), 'JSON, 4.9 kB: name, price, in stock.'],
    [JSON.stringify(Array.from({ length: 3000 }, () => 1)), 'JSON, 5.9 kB: a list of 3000 items.'],
    [JSON.stringify(Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`k${i}`, i]))), 'and 888 more fields.'],
  ])('tells what is in JSON', (text, words) => {
    const { summary, file: made } = summarized(text) ?? {};
    expect(summary).toContain(words);
    expect(summary).toMatch(/\n\nAll of it is in the file\.$/);
    expect(made).toEqual({ name: 'result.json', mime: 'application/json', text });
  });

  it('that only begins like JSON is a text', () => {
    expect(summarized(`{${'x'.repeat(5000)}`)?.file.name).toBe('result.txt');
  });
});
