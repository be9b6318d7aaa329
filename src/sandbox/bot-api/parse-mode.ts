import { badRequest } from './failure.ts';
import { parseHtml } from './html.ts';
import type { Arguments } from './request.ts';
import { checkBytes, readEntities, type Formatted } from './texts.ts';

/** The text of a call with its entities, from `parse_mode` or from the list; a parse mode makes the list count for nothing. */
export function readFormatted(args: Arguments, names: { readonly text: string; readonly entities: string }): Formatted {
  const text = args.text(names.text);
  checkBytes(text);
  const mode = args.text('parse_mode').toLowerCase();
  if (text === '' || mode === '' || mode === 'none') {
    return { text, entities: readEntities(args.json(names.entities)) };
  }
  if (mode === 'html') return parseHtml(text);
  if (mode === 'markdown' || mode === 'markdownv2') {
    throw badRequest(`the sandbox reads HTML and entities only, not parse_mode ${args.text('parse_mode')}`);
  }
  throw badRequest('unsupported parse_mode');
}
