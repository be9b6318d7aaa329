/** What the Bot API answers instead of a result: the status, the text and the parameters of its JSON. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly status: number;
  readonly parameters: Readonly<Record<string, unknown>> | null;

  constructor(status: number, text: string, parameters: Readonly<Record<string, unknown>> | null = null) {
    super(text);
    this.status = status;
    this.parameters = parameters;
  }
}

export const badRequest = (text: string): Failure => new Failure(400, `Bad Request: ${text}`);
export const forbidden = (text: string): Failure => new Failure(403, `Forbidden: ${text}`);

export function tooManyRequests(seconds: number): Failure {
  return new Failure(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
}
