import { createHash } from 'node:crypto';

interface Allowed {
  readonly style: string;
  /** Absent on a page without a script. */
  readonly script?: string;
  readonly images?: 'own';
}

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Headers of a page that loads nothing from elsewhere: the browser accepts this style and this script, and no other. */
export function pageHeaders({ style, script, images }: Allowed) {
  return {
    'content-security-policy': [
      "default-src 'none'",
      ...(script === undefined ? [] : [`script-src ${hashOf(script)}`]),
      `style-src ${hashOf(style)}`,
      `img-src ${images === 'own' ? "'self' data:" : 'data:'}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  } as const;
}
