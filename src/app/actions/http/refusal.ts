import { AppError } from '../../../domain/errors.ts';

/** The refusal of a setting, or of what stands in one, such as `headers.host`. */
export function refused(setting: string, reason: string, example: string): AppError {
  const [first = ''] = setting.split('.', 1);
  // Parts of `auth` have names of ours; those of headers, queries and bodies are chosen by people.
  const field = first === 'auth' ? setting : first;
  return new AppError('invalid_action', `action.${setting} ${reason}. Example: ${example}`, {
    details: { field: `action.${field}`, reason, example },
  });
}

export const headersExample = '{"accept": "application/json"}';

/** A line break would begin another header. */
export function headerValue(
  setting: string,
  value: string,
  reason = 'holds a sign that no header may hold, such as a line break',
): string {
  if (/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)) return value.trim();
  throw refused(setting, reason, headersExample);
}

/** Where a secret goes must be known before it is opened. */
export const hostBySecret = 'names its host by a secret, and a host has to be known before a secret is opened for it';

/** Set by us for each call, so that targets can rely on them. */
const ours = /^(?:idempotency-key|x-schedule-.*|host|content-length)$/;
/** Headers that are about one connection, and not about the call. */
const ofConnection = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|http2-settings)$/;

/** The name of a header that may be chosen, in lower case. */
export function headerName(setting: string, given: string): string {
  const name = given.toLowerCase();
  if (!/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name)) throw refused(setting, 'is no name of a header', headersExample);
  if (ours.test(name)) throw refused(setting, 'is set for every call and cannot be chosen', headersExample);
  if (ofConnection.test(name)) throw refused(setting, 'belongs to the connection and cannot be chosen', headersExample);
  return name;
}
