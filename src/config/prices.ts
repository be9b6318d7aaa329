import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isMap, isScalar, LineCounter, parseDocument, type Node, type Pair, type YAMLMap } from 'yaml';
import { millionths, type PriceTable } from '../domain/spending/prices.ts';

/** A fault in the file of prices, which says where it is. */
class PriceFault extends Error {
  readonly node: unknown;
  constructor(problem: string, node: unknown) {
    super(problem);
    this.node = node;
  }
}

/** The prices of a file, or what is wrong with it, as the end of a sentence about it. */
export function readPrices(path: string): PriceTable | string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return `cannot be read (${(error as { code?: string }).code ?? 'unknown'}): it is the path of a YAML file`;
  }
  return pricesIn(text);
}

function pricesIn(text: string): PriceTable | string {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [broken] = document.errors;
  if (broken !== undefined)
    return `is no YAML, line ${broken.linePos?.[0].line ?? 1}: ${broken.message.split(/ at line |\n/)[0] ?? ''}`;
  try {
    return tableOf(document.contents, text);
  } catch (error) {
    if (!(error instanceof PriceFault)) throw error;
    const offset = (error.node as Partial<Node> | null)?.range?.[0];
    return `${error.message}, line ${offset === undefined ? 1 : lines.linePos(offset).line}`;
  }
}

const known = ['version', 'currency', 'hosts', 'models'];

function tableOf(contents: unknown, text: string): PriceTable {
  if (!isMap(contents)) throw new PriceFault('holds no currency and no prices', contents);
  const fields = entriesOf(contents);
  const stray = fields.find(({ name }) => !known.includes(name));
  if (stray !== undefined)
    throw new PriceFault(`names ${stray.name.slice(0, 40)}, which is none of ${known.join(', ')}`, stray.key);
  const field = (name: string) => fields.find((one) => one.name === name);
  const currency = scalar(field('currency')?.value);
  if (typeof currency !== 'string' || !isCurrency(currency))
    throw new PriceFault('says no currency, which is three letters such as EUR', field('currency')?.value ?? contents);
  const version = scalar(field('version')?.value);
  return {
    currency,
    version:
      typeof version === 'string' || typeof version === 'number'
        ? String(version)
        : createHash('sha256').update(text).digest('hex').slice(0, 12),
    hosts: hostPrices(field('hosts')?.value),
    models: modelPrices(field('models')?.value),
  };
}

interface Entry {
  readonly name: string;
  readonly key: unknown;
  readonly value: unknown;
}

function entriesOf(map: YAMLMap): readonly Entry[] {
  return map.items.map(({ key, value }: Pair) => ({ name: String(isScalar(key) ? key.value : key), key, value }));
}

function scalar(node: unknown): unknown {
  return isScalar(node) ? node.value : undefined;
}

function isCurrency(text: string): boolean {
  return /^[A-Z]{3}$/.test(text);
}

function mapIn(node: unknown, what: string): readonly Entry[] {
  if (node === undefined || (isScalar(node) && node.value === null)) return [];
  if (!isMap(node)) throw new PriceFault(`has ${what} that are no list of names with prices`, node);
  return entriesOf(node);
}

function priceIn(node: unknown, name: string): number {
  const value = scalar(node);
  const price = typeof value === 'number' ? millionths(value) : null;
  if (price === null)
    throw new PriceFault(
      `has a price of ${name.slice(0, 60)} that is no amount from 0 on, with at most 6 decimals`,
      node,
    );
  return price;
}

function hostPrices(node: unknown): ReadonlyMap<string, number> {
  const prices = new Map<string, number>();
  for (const { name, key, value } of mapIn(node, 'hosts')) {
    const host = hostNamed(name, key);
    if (prices.has(host)) throw new PriceFault(`names ${host.slice(0, 60)} twice`, key);
    prices.set(host, priceIn(value, name));
  }
  return prices;
}

/** A host as addresses write it: in ASCII, and without the usual port. */
function hostNamed(name: string, key: unknown): string {
  const [, stars = '', host = '', port = ''] = /^(\*\.)?(\[[^\]]*\]|[^:]*)(:\d{1,5})?$/.exec(name) ?? [];
  if (name === '*') return name;
  if (port === ':80' || port === ':443')
    throw new PriceFault(
      `names ${name.slice(0, 60)}; write ${stars}${host.slice(0, 60)}, which stands for every port`,
      key,
    );
  const written = URL.canParse(`https://${host}${port}/`) ? new URL(`https://${host}${port}/`).host : '';
  if (host === '' || /[\s/?#@%\\*]/.test(host) || written === '')
    throw new PriceFault(
      `names ${name.slice(0, 60)}, which is no host such as api.example.com, localhost:8080 or *.example.com`,
      key,
    );
  return `${stars}${written}`;
}

function modelPrices(node: unknown): ReadonlyMap<string, number> {
  return new Map(
    mapIn(node, 'models').flatMap(({ name, value }) => {
      if (!isMap(value)) throw new PriceFault(`has no prices in and out for ${name.slice(0, 60)}`, value ?? node);
      const sides = entriesOf(value);
      const stray = sides.find((side) => side.name !== 'in' && side.name !== 'out');
      if (stray !== undefined)
        throw new PriceFault(
          `names ${stray.name.slice(0, 40)} for ${name.slice(0, 60)}, where in and out are known`,
          stray.key,
        );
      return sides.map((side): [string, number] => [
        `${name} ${side.name}`,
        priceIn(side.value, `${name} ${side.name}`),
      ]);
    }),
  );
}
