import { expect, it } from 'vitest';
import { CONFIG_KEYS } from '../../src/config/config.ts';
import { readText } from './source.ts';

/** Variables of .env.example and of the schema that the other does not have. */
function keyFaults(example: string, keys: readonly string[]): readonly string[] {
  const shown = exampleKeys(example);
  return [
    ...keys.filter((key) => !shown.includes(key)).map((key) => `${key} is missing from .env.example`),
    ...shown.filter((key) => !keys.includes(key)).map((key) => `${key} is read by nobody`),
    ...shown.filter((key, index) => shown.indexOf(key) !== index).map((key) => `${key} is shown twice`),
  ];
}

/**
 * A variable stands at the start of a line, set or commented out. SECRET_<NAME> and <NAME>_FILE are families and no
 * keys: an example of them may be shown.
 */
function exampleKeys(example: string): readonly string[] {
  return [...example.matchAll(/^#? ?([A-Z][A-Z0-9_]*)=/gm)]
    .map((match) => match[1] ?? '')
    .filter((key) => !key.startsWith('SECRET_') && !key.endsWith('_FILE'));
}

// A guard that reads nothing finds nothing. Raise it to about three quarters of the truth as the list grows.
const keysMin = 10;

it('shows every variable in .env.example, and no other', () => {
  const example = readText('.env.example');
  expect(keyFaults(example, CONFIG_KEYS)).toEqual([]);
  expect(exampleKeys(example).length).toBeGreaterThanOrEqual(keysMin);
});

it('reads variables that are set and that are commented out', () => {
  const example = '# A sentence, X=1 inside it.\nA=1\n#B=2\n# C=\nSECRET_NAME=\n# API_TOKEN_FILE=\n';
  expect(exampleKeys(example)).toEqual(['A', 'B', 'C']);
});

it('bites on a variable that is missing, stale or shown twice', () => {
  expect(keyFaults('A=1\n# A=2\nC=3\n', ['A', 'B'])).toEqual([
    'B is missing from .env.example',
    'C is read by nobody',
    'A is shown twice',
  ]);
});
