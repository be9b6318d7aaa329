import { englishForms } from '../../domain/schedule/words/forms.ts';
import type { UsageKind } from '../../domain/spending/usage.ts';

const { plural, number } = englishForms;

/** An amount of what runs use, in English, such as "1,200 requests", "3.4 MB" or "€2.50". */
export function amountText({ kind, quantity, currency }: TellableAmount): string {
  switch (kind) {
    case 'requests':
      return plural(quantity, { one: '{n} request', other: '{n} requests' });
    case 'bytes':
      return bytes(quantity);
    case 'seconds':
      return plural(quantity, { one: '{n} second', other: '{n} seconds' });
    case 'tokens':
      return plural(quantity, { one: '{n} token', other: '{n} tokens' });
    case 'money':
      return money(quantity, currency);
  }
}

/** Without a currency it is not money, or nobody knows of which. */
export interface TellableAmount {
  readonly kind: UsageKind;
  readonly quantity: number;
  readonly currency?: string | null | undefined;
}

/** A currency that is not known is left out, and one that is no code stands behind the number. */
function money(millionths: number, currency: string | null | undefined): string {
  const isCode = /^[A-Z]{3}$/.test(currency ?? '');
  const most = millionths > 0 && millionths < 10_000 ? 6 : 2;
  const amount = new Intl.NumberFormat('en-GB', {
    ...(isCode ? { style: 'currency', currency: currency ?? undefined } : {}),
    minimumFractionDigits: 2,
    maximumFractionDigits: most,
  }).format(millionths / 1_000_000);
  return isCode || !currency ? amount : `${amount} ${currency}`;
}

function bytes(count: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;
  const step = count < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3));
  const shown = count / 1000 ** step;
  return `${number(step === 0 ? shown : Math.round(shown * 10) / 10)} ${units[step]}`;
}
