/** How a request reaches the API: over the network, or straight into one that this process opened itself. */
export interface Wire {
  /** Where it goes, as it may be shown to people. */
  readonly place: string;
  ask(request: WireRequest, signal: AbortSignal): Promise<WireAnswer>;
  /** The lines of an answer that goes on for as long as somebody listens. */
  listen(request: WireRequest, signal: AbortSignal): Promise<WireStream>;
  close(): Promise<void>;
}

export interface WireRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface WireAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

export interface WireStream {
  readonly status: number;
  readonly type: string;
  readonly chunks: AsyncIterable<string>;
}
