/** Lines of a `.env` file that systemd reads otherwise than the server does. What a unit is given wins over the file. */
export function oddLines(text: string): readonly { readonly line: number; readonly variable: string }[] {
  return text.split('\n').flatMap((each, at) => {
    const [, variable, value = ''] = /^\s*([A-Z][A-Z0-9_]*)\s*=\s*(.*?)\s*$/.exec(each) ?? [];
    return variable !== undefined && isOdd(value) ? [{ line: at + 1, variable }] : [];
  });
}

/** A comment behind a value belongs to it there, a backslash stands for what follows it, and there are no backticks. */
function isOdd(value: string): boolean {
  if (/^'[^']*'$/.test(value)) return false;
  if (/^"[^"\\]*"$/.test(value)) return false;
  return /["'`\\#]/.test(value);
}
