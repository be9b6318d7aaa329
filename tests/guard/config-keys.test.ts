import { expect, it } from 'vitest';
import { CONFIG_KEYS } from '../../src/config/config.ts';
import { exampleKeys, keyFaults } from './config-keys.ts';
import { readText } from './source.ts';

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
