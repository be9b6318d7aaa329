import { AppError } from '../errors.ts';

/** Mentions of secrets in texts that people write. A template that could do something with a value is given none. */

const tags = /\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g;
const quoted = /"[^"]*"|'[^']*'/g;

/** Whether a template asks for a secret, in whatever way. */
export function namesSecrets(text: string): boolean {
  const isAsked = (tag: string) => /(?<![\w.-])secrets(?![\w-])/.test(tag.replace(quoted, ''));
  return text.match(tags)?.some(isAsked) ?? false;
}

/** Refuses secrets where a text goes to people, or to a language that could do something with them. */
export function refuseSecrets(field: string, text: string): void {
  if (!namesSecrets(text)) return;
  const where = 'in the url, in values of query and headers, in the body and in auth of an http call';
  throw new AppError('invalid_action', `${field} names a secret, which may stand ${where} alone.`, {
    details: { field },
  });
}
