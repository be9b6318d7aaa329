/** Variables of .env.example and of the schema that the other does not have. */
export function keyFaults(example: string, keys: readonly string[]): readonly string[] {
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
export function exampleKeys(example: string): readonly string[] {
  return [...example.matchAll(/^#? ?([A-Z][A-Z0-9_]*)=/gm)]
    .map((match) => match[1] ?? '')
    .filter((key) => !key.startsWith('SECRET_') && !key.endsWith('_FILE'));
}
