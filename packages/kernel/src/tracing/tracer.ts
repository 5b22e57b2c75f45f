/** A finished piece of work. */
export interface FinishedSpan {
  /** 32 hex digits, shared by all spans of a trace. */
  readonly traceId: string;
  /** 16 hex digits; generated when absent. */
  readonly spanId?: string | undefined;
  readonly parentSpanId?: string | undefined;
  /** `client` by default: an outgoing request. */
  readonly kind?: 'client' | 'server' | 'internal' | undefined;
  readonly name: string;
  /** Milliseconds since 1970, possibly with a fraction. */
  readonly startMs: number;
  readonly durationMs: number;
  /** `undefined` when unknown. */
  readonly isFailure: boolean | undefined;
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** Records spans. Never fails and never blocks its caller. */
export interface Tracer {
  record(span: FinishedSpan): void;
  /** Sends the queued spans once. */
  close(): Promise<void>;
}
