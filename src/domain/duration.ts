import { AppError } from './errors.ts';

const shape = /^P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,9})(?:\.(\d{1,3}))?S)?)?$/;

/**
 * Reads an ISO-8601 duration of fixed length. Months and years have no fixed length, so a policy cannot be written with
 * them; a day is 24 hours here because policies measure elapsed time.
 */
export function durationMs(text: string): number {
  const found = shape.exec(text);
  if (!found || text.endsWith('P') || text.endsWith('T')) {
    throw new AppError('invalid_policy', `"${text.slice(0, 40)}" is not a duration such as PT90S, PT10M, PT2H or P1D.`);
  }
  const part = (index: number) => Number(found[index] ?? 0);
  const fraction = Number((found[6] ?? '').padEnd(3, '0') || 0);
  const days = part(1) * 7 + part(2);
  return ((days * 24 + part(3)) * 60 + part(4)) * 60_000 + part(5) * 1000 + fraction;
}
