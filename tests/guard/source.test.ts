import { describe, expect, it } from 'vitest';
import { codeOf, importsOf, readTree } from './source.ts';

describe('what counts as code', () => {
  it.each([
    ['a line comment', 'a; // Date.now()\nb;', 'a;              \nb;'],
    ['a block comment, lines kept', 'a/* x\ny */b', 'a    \n    b'],
    ['a string', "f('it\\'s', \"x\")", 'f(\'     \', " ")'],
    ['a template, expressions kept', '`a ${b + `c ${d}`} e`', '`  ${b + `  ${d}`}  `'],
    ['an object inside a template', '`${f({ a: 1 })} x`', '`${f({ a: 1 })}  `'],
    ['a regular expression', 'return /"[/\']/g.test(x)', 'return /      /.test(x)'],
    ['a division', 'a / b / c', 'a / b / c'],
    ['a comment mark in a string', "'//' + x", "'  ' + x"],
    ['a dollar sign in a template', '`$ ${a} $b`', '`  ${a}   `'],
  ])('%s', (_name, text, code) => {
    expect(codeOf(text).trimEnd()).toBe(code.trimEnd());
    expect(codeOf(text)).toHaveLength(text.length);
  });
});

describe('what counts as an import', () => {
  it('sees every form, and its line', () => {
    const text = [
      "import a from './a.ts';",
      "import type { B } from '../b.ts';",
      "import 'c';",
      "export { d } from './d.ts';",
      "export * from 'e';",
      "const f = await import('./f.ts');",
      "type G = import('./g.ts').G;",
      'import {',
      '  h,',
      "} from './h.ts';",
      "// import './comment.ts';",
      'const i = "import \'./string.ts\'";',
    ].join('\n');
    const found = importsOf({ path: 'src/app/x.ts', text });
    expect(found.map((each) => `${each.line} ${each.target ?? each.specifier}`)).toEqual([
      '1 src/app/a.ts',
      '2 src/b.ts',
      '3 c',
      '4 src/app/d.ts',
      '5 e',
      '6 src/app/f.ts',
      '7 src/app/g.ts',
      '10 src/app/h.ts',
    ]);
  });
});

it('reads the real tree', () => {
  expect(readTree('tests/guard').map((file) => file.path)).toContain('tests/guard/source.test.ts');
  expect(() => readTree('no-such-folder')).toThrow('ENOENT');
});
