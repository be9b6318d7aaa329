import { Marked, Renderer, type Tokens } from 'marked';

/** A page of the manual as HTML, and the parts that a navigation can name. */
interface RenderedPage {
  readonly body: Markup;
  readonly parts: readonly PagePart[];
}

interface PagePart {
  readonly id: string;
  readonly title: string;
}

/** Where a link of the markdown leads over HTTP; null for a file of the repository that the server does not serve. */
export type LinkTarget = (href: string) => string | null;

/** Turns our markdown into HTML. Raw HTML in it stays text, and its comments are left out. */
export function renderMarkdown(text: string, targetOf: LinkTarget): RenderedPage {
  const renderer = new PageRenderer(targetOf);
  const body = new Marked().setOptions({ renderer }).parse(text, { async: false });
  return { body: new Markup(body), parts: renderer.parts };
}

class PageRenderer extends Renderer {
  readonly parts: PagePart[] = [];
  readonly #targetOf: LinkTarget;
  readonly #slugs = createSlugs();

  constructor(targetOf: LinkTarget) {
    super();
    this.#targetOf = targetOf;
  }

  override heading({ tokens, depth }: Tokens.Heading): string {
    const title = this.parser.parseInline(tokens, this.parser.textRenderer);
    const id = this.#slugs(title);
    if (depth === 2) this.parts.push({ id, title });
    const shown = new Markup(this.parser.parseInline(tokens));
    return depth === 1
      ? markup`<h1 id="${id}">${shown}</h1> `.text
      : new Markup(`<h${depth} id="${id}"><a href="#${id}">${shown.text}</a></h${depth}>\n`).text;
  }

  override link({ href, tokens }: Tokens.Link): string {
    const shown = new Markup(this.parser.parseInline(tokens));
    const target = this.#targetOf(href);
    return target === null ? shown.text : markup`<a href="${target}">${shown}</a>`.text;
  }

  override image({ href, text }: Tokens.Image): string {
    const target = this.#targetOf(href);
    return target === null ? markup`${text}`.text : markup`<img src="${target}" alt="${text}" />`.text;
  }

  override code({ text }: Tokens.Code): string {
    return markup`<pre tabindex="0"><code>${text}</code></pre> `.text;
  }

  /** On a phone the cells of a row stand below each other, so each one knows the title of its column. */
  override table({ header, rows }: Tokens.Table): string {
    const shown = (cell: Tokens.TableCell) => new Markup(this.parser.parseInline(cell.tokens));
    const kind = ({ align }: Tokens.TableCell) => (align === 'right' ? 'number' : 'words');
    const titles = header.map((cell) => this.parser.parseInline(cell.tokens, this.parser.textRenderer));
    return markup`<table class="sheet">
      <thead>
        <tr>
          ${header.map((cell) => markup`<th scope="col" class="${kind(cell)}">${shown(cell)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            markup`<tr>
              ${row.map((cell, column) => markup`<td class="${kind(cell)}" data-title="${titles[column] ?? ''}">${shown(cell)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table> `.text;
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return /^<!--[\s\S]*-->\s*$/.test(text) ? '' : markup`${text}`.text;
  }
}

/** Names headings as GitHub does, so that one link fits both places: a name that comes again gets a number. */
function createSlugs(): (title: string) => string {
  const seen = new Map<string, number>();
  return (title) => {
    const plain = title
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(plain) ?? 0;
    seen.set(plain, count + 1);
    return count === 0 ? plain : `${plain}-${count}`;
  };
}

/** Text that is HTML already, and safe as it stands. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Markup | null | readonly Part[];

/** A template whose values are texts, and never tags, unless they were made by a template of this kind. */
export function markup(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(texts.map((text, index) => text + written(parts[index] ?? null)).join(''));
}

/** `code` and *emphasis* in a sentence of ours or of a schema. */
export function prose(text: string): Markup {
  const spans = escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
  return new Markup(spans);
}

function written(part: Part): string {
  if (part === null) return '';
  if (part instanceof Markup) return part.text;
  return typeof part === 'object' ? part.map(written).join('') : escaped(String(part));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}
