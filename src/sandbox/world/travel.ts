export type JumpTarget = { readonly at: number } | { readonly byMs: number } | 'next';

/**
 * The clock of the sandbox as people move it. A jump visits each due slot on its way, waits until nothing is left to do,
 * and never goes back: a target in the past is refused with `too_late`.
 */
export interface Travel {
  now(): number;
  /** The instant of the next run; null while nothing is planned. */
  nextAt(): Promise<number | null>;
  jump(to: JumpTarget): Promise<{ readonly now: number; readonly visited: number }>;
}
