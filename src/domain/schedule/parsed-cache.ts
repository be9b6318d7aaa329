/**
 * Keeps what was parsed, in two generations: when the young one is full it becomes the old one and the old one is dropped.
 * An entry in use is carried over, so that this behaves like a least-recently-used cache without any bookkeeping on a hit.
 */
export class ParsedCache<T> {
  private readonly generationMax: number;
  private young = new Map<string, T>();
  private old = new Map<string, T>();

  constructor(max: number) {
    this.generationMax = Math.ceil(max / 2);
  }

  get(key: string, parse: () => T): T {
    const known = this.young.get(key);
    if (known !== undefined) return known;
    const value = this.old.get(key) ?? parse();
    if (this.young.size >= this.generationMax) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, value);
    return value;
  }
}
