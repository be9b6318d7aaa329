/** How wide a text stands on a terminal. The exact measure costs its import, which plain ASCII need not pay. */
type Measure = (text: string) => number;

const plainAscii = /^[\u0020-\u007E]*$/;

export async function measureFor(texts: Iterable<string>): Promise<Measure> {
  for (const text of texts) {
    if (plainAscii.test(text)) continue;
    const { default: stringWidth } = await import('string-width');
    return (each) => (plainAscii.test(each) ? each.length : stringWidth(each));
  }
  return (text) => text.length;
}

export interface Cell {
  readonly text: string;
  readonly tone?: Tone;
}

export interface Column<Row> {
  readonly title: string;
  /** The cell of a row; null is an empty one. */
  readonly of: (row: Row) => Cell | string | null;
  /** Gives way first, down to this width; the others keep theirs for as long as there is room. */
  readonly least?: number;
  /** Never cut, however narrow the terminal: what stands there is to be copied. */
  readonly isWhole?: boolean;
  /** Goes on in the next line where there is no room, and is not cut. */
  readonly wraps?: boolean;
  /** Shown only where nothing else has to give way for it. */
  readonly isExtra?: boolean;
}

const gap = '  ';
const ellipsis = '…';
const leastWidth = 4;

/** A table that fits the terminal. */
export async function table<Row>(
  terminal: Pick<Terminal, 'columns' | 'hasColours'>,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): Promise<string> {
  const all = columns.map((column) => {
    const cells = rows.map((row) => oneLine(column.of(row) ?? ''));
    return { ...column, cells: [{ text: column.title, tone: 'dim' as const }, ...cells] };
  });
  const measure = await measureFor(all.flatMap(({ cells }) => cells.map(({ text }) => text)));
  const measured = all.map((column) => ({
    ...column,
    natural: Math.max(...column.cells.map(({ text }) => measure(text))),
  }));
  const shownColumns = withoutExtras(measured, terminal.columns);
  const widths = fit(shownColumns, terminal.columns);
  const line = (row: number) => {
    const lines = shownColumns.map(({ cells, wraps }, at) => {
      const width = widths[at] ?? 0;
      const text = cells[row]?.text ?? '';
      const parts = wraps === true ? wrapped(text, width, measure) : [text];
      return parts.map((part) => cutTo(part, width, measure));
    });
    const height = Math.max(...lines.map(({ length }) => length));
    return Array.from({ length: height }, (_line, down) => {
      const parts = shownColumns.map(({ cells }, at) => {
        const text = lines[at]?.[down] ?? '';
        const padding = ' '.repeat(Math.max(0, (widths[at] ?? 0) - measure(text)));
        return `${toned(text, cells[row]?.tone, terminal.hasColours)}${padding}`;
      });
      return `${parts.join(gap).trimEnd()}\n`;
    }).join('');
  };
  return Array.from({ length: rows.length + 1 }, (_row, at) => line(at)).join('');
}

type Measured = Omit<Column<never>, 'of'> & { readonly natural: number };

/** Extras go, the last first, until the rest fits as it is or none is left. */
function withoutExtras<Each extends Measured>(columns: readonly Each[], room: number): readonly Each[] {
  const wide = columns.reduce((sum, { natural }) => sum + natural, gap.length * (columns.length - 1));
  const last = columns.findLast(({ isExtra }) => isExtra === true);
  if (wide <= room || last === undefined) return columns;
  return withoutExtras(
    columns.filter((column) => column !== last),
    room,
  );
}

function oneLine(cell: Cell | string): Cell {
  const { text, tone } = typeof cell === 'string' ? { text: cell } : cell;
  const line = flat(text).trim();
  return tone === undefined ? { text: line } : { text: line, tone };
}

/** Columns that may give way share what is missing; when that is not enough, the widest ones are cut in turn. */
function fit(columns: readonly Measured[], room: number): readonly number[] {
  const natural = columns.map((column) => column.natural);
  const widths = [...natural];
  const free = room - gap.length * (columns.length - 1);
  const total = () => widths.reduce((sum, width) => sum + width, 0);
  const shrink = (least: (at: number) => number) => {
    while (total() > free) {
      const candidates = widths.flatMap((width, at) => (width > least(at) ? [at] : []));
      const widest = candidates.reduce((best, at) => ((widths[at] ?? 0) > (widths[best] ?? 0) ? at : best), -1);
      const start = widest < 0 ? candidates[0] : widest;
      if (start === undefined) return;
      widths[start] = (widths[start] ?? 0) - 1;
    }
  };
  shrink((at) => columns[at]?.least ?? natural[at] ?? 0);
  shrink((at) => (columns[at]?.isWhole === true ? (natural[at] ?? 0) : leastWidth));
  return widths;
}

/** The text, or as much of it as fits, with an ellipsis. Characters are taken as people see them. */
export function cutTo(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter('en').segment(text)) {
    const next = used + measure(segment);
    if (next > width - 1) break;
    kept += segment;
    used = next;
  }
  return `${kept.trimEnd()}${ellipsis}`;
}

export type Fact = readonly [name: string, value: string | Cell | null | undefined];

/** Names and values beneath each other; what has no value is left out. A long value goes on under itself. */
export async function facts(terminal: Pick<Terminal, 'columns' | 'hasColours'>, all: readonly Fact[]): Promise<string> {
  const known = all.flatMap(([name, value]) => {
    if (value === null || value === undefined) return [];
    const cell = typeof value === 'string' ? { text: value } : value;
    return cell.text === '' ? [] : [{ name, cell }];
  });
  const measure = await measureFor(known.map(({ cell }) => cell.text));
  const width = Math.max(0, ...known.map(({ name }) => name.length)) + 2;
  return known
    .map(({ name, cell }) => {
      const lines = wrapped(shown(cell.text), terminal.columns - width, measure);
      const head = toned(name, 'dim', terminal.hasColours) + ' '.repeat(width - name.length);
      return lines
        .map((line, at) => `${at === 0 ? head : ' '.repeat(width)}${toned(line, cell.tone, terminal.hasColours)}`)
        .map((line) => `${line.trimEnd()}\n`)
        .join('');
    })
    .join('');
}

/** Broken between words. A word that is longer than the line stays whole, because it is an id or an address to be copied. */
export function wrapped(text: string, width: number, measure: Measure): readonly string[] {
  return text.split('\n').flatMap((paragraph) => {
    // A line that is set apart is to be copied as it stands.
    if (paragraph.startsWith('  ')) return [paragraph];
    const lines: string[] = [];
    let line = '';
    for (const word of paragraph.split(/(?<=\S)\s+(?=\S)/)) {
      const longer = line === '' ? word : `${line} ${word}`;
      if (measure(longer) > width && line !== '') {
        lines.push(line);
        line = word;
      } else line = longer;
    }
    return [...lines, line];
  });
}

export async function sentence(terminal: Pick<Terminal, 'columns'>, text: string): Promise<string> {
  return `${wrapped(shown(text), terminal.columns, await measureFor([text])).join('\n')}\n`;
}

/** Where the program is heard and hears; given from outside, so that a test can be the other end. */
export interface Terminal {
  /** Results, and nothing else. */
  out(text: string): void;
  /** Faults, progress and questions. */
  err(text: string): void;
  /** A person looks at the progress. */
  readonly showsProgress: boolean;
  /** A person is there to answer. */
  readonly canAsk: boolean;
  readonly hasColours: boolean;
  readonly columns: number;
  /** Reads the whole input, to its end. */
  read(): Promise<string>;
  /** One line that a person types. */
  ask(question: string): Promise<string>;
  /** The same, and nobody sees what is typed. */
  askHidden(question: string): Promise<string>;
}

export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'strong';

const codes: Readonly<Record<Tone, readonly [number, number]>> = {
  good: [32, 39],
  bad: [31, 39],
  warn: [33, 39],
  dim: [2, 22],
  strong: [1, 22],
};

export function toned(text: string, tone: Tone | undefined, hasColours: boolean): string {
  if (tone === undefined || !hasColours || text === '') return text;
  const [on, off] = codes[tone];
  return `\u001B[${on}m${text}\u001B[${off}m`;
}

/**
 * Text of other people is shown and must not steer: without the escapes and the other control characters with which a
 * text could move the cursor, rename the window or hide what stands before it.
 */
export function shown(text: string): string {
  // Line breaks and tabs are layout; the rest of C0 and C1 and the marks that turn the direction of writing are not.
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex
    /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g,
    '',
  );
}

/** Text of other people on one line. */
export function flat(text: string): string {
  return shown(text).replaceAll(/\s+/g, ' ');
}
