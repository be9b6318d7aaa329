import { describe, expect, it } from 'vitest';
import { splitText } from '../../src/domain/delivery.ts';

/** What a reader sees of a text in which blocks of code stand: the parts, without what only closes and opens them again. */
const fences = (part: string) => part.split('\n').filter((line) => line.trim().startsWith('```')).length;

describe('splitting a text', () => {
  it('leaves 4,096 units whole and makes two parts of 4,097', () => {
    expect(splitText('x'.repeat(4096))).toHaveLength(1);
    expect(splitText('x'.repeat(4097)).map(({ length }) => length)).toEqual([4096, 1]);
  });

  it('cuts at a paragraph, else at a line, else at a space', () => {
    expect(splitText('aaaa bbbb\n\ncccc dddd', 12)).toEqual(['aaaa bbbb', 'cccc dddd']);
    expect(splitText('aaaa bbbb\ncccc dddd', 12)).toEqual(['aaaa bbbb', 'cccc dddd']);
    expect(splitText('aaaa bbbb cccc dddd', 12)).toEqual(['aaaa bbbb', 'cccc dddd']);
  });

  it('never tears an emoji of several code points, nor a surrogate pair', () => {
    const family = '👨‍👩‍👧‍👦';
    const parts = splitText(`${'x'.repeat(4090)}${family}${family}`);
    expect(parts.join('')).toBe(`${'x'.repeat(4090)}${family}${family}`);
    expect(parts[1]?.startsWith(family)).toBe(true);
    const pairs = splitText('😀'.repeat(5000));
    expect(pairs.every((part) => part.length <= 4096 && part.length % 2 === 0)).toBe(true);
  });

  it('survives a grapheme that is longer than a message', () => {
    const tower = `x${'\u0301'.repeat(9000)}`;
    const parts = splitText(tower);
    expect(parts.join('')).toBe(tower);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(4096);
  });

  it('makes no message of nothing but blanks', () => {
    expect(splitText(`${' '.repeat(5000)}x`)).toEqual(['x']);
    expect(splitText('   ')).toEqual([]);
  });

  it('says so where a text has more parts than a chat can bear', () => {
    const parts = splitText('word '.repeat(60_000));
    expect(parts).toHaveLength(50);
    expect(parts.at(-1)).toMatch(/too long for a chat\]$/);
    expect(parts.at(-1)?.length).toBeLessThanOrEqual(4096);
  });
});

describe('a text with blocks of code', () => {
  const code = Array.from({ length: 400 }, (_, line) => `  line ${line} of the listing;`).join('\n');

  it('closes a block that it cuts, and opens it again with its language in the next part', () => {
    const parts = splitText(`Look:\n\n\`\`\`ts\n${code}\n\`\`\`\n\nThat was all.`);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(4096);
      expect(fences(part) % 2).toBe(0);
    }
    for (const part of parts.slice(0, -1)) expect(part.endsWith('\n```')).toBe(true);
    for (const part of parts.slice(1)) expect(part.startsWith('```ts\n  line ')).toBe(true);
    expect(parts.at(-1)?.endsWith('```\n\nThat was all.')).toBe(true);
  });

  it('loses no line of it, nor the indentation of one', () => {
    const parts = splitText(`\`\`\`\n${code}\n\`\`\``);
    const lines = parts.flatMap((part) => part.split('\n')).filter((line) => line !== '```');
    expect(lines).toEqual(code.split('\n'));
  });

  it('is cut as ever outside of its blocks', () => {
    const block = '```\ncode\n```';
    const parts = splitText(`${block}\n\n${'word '.repeat(1000)}`);
    expect(parts).toHaveLength(2);
    expect(parts[0]?.startsWith(block)).toBe(true);
    expect(parts.map(fences)).toEqual([2, 0]);
  });

  it('begins a block in the next part rather than at the very end of one', () => {
    const prose = `${'x'.repeat(4080)}\n`;
    const parts = splitText(`${prose}\`\`\`js\n${'y'.repeat(100)}\n\`\`\``);
    expect(parts).toEqual(['x'.repeat(4080), `\`\`\`js\n${'y'.repeat(100)}\n\`\`\``]);
  });

  it('takes three marks within a line for what they are', () => {
    const parts = splitText(`a \`\`\`b\`\`\` c ${'word '.repeat(1000)}`);
    expect(parts.every((part) => !part.endsWith('\n```') && !part.startsWith('```'))).toBe(true);
  });

  it('tears no grapheme in a block without a space', () => {
    const family = '👨‍👩‍👧‍👦';
    const parts = splitText(`\`\`\`\n${family.repeat(800)}\n\`\`\``);
    expect(parts.every((part) => part.length <= 4096)).toBe(true);
    expect(parts.join('').replaceAll(/```|\n/g, '')).toBe(family.repeat(800));
  });

  it('closes its block also where it has more parts than a chat can bear', () => {
    const parts = splitText(
      `\`\`\`a-language-with-a-name-that-nobody-would-ever-use-for-one\n${'word\n'.repeat(60_000)}`,
    );
    expect(parts).toHaveLength(50);
    expect(parts.every((part) => part.length <= 4096 && fences(part) === 2)).toBe(true);
    expect(parts.at(-1)?.endsWith('\n```\n[cut: the text is too long for a chat]')).toBe(true);
  });

  it('is read quickly whatever is in it', () => {
    for (const hostile of [
      `\`\`\`${' '.repeat(200_000)}x`,
      '```\n'.repeat(60_000),
      ` \`\`\` `.repeat(40_000),
      `\`\`\`\n${' \n'.repeat(100_000)}x`,
      '\n```\n```x`'.repeat(30_000),
    ]) {
      const parts = splitText(hostile);
      expect(parts.length).toBeLessThanOrEqual(50);
      expect(parts.every((part) => part.length <= 4096)).toBe(true);
    }
  }, 3000);
});
