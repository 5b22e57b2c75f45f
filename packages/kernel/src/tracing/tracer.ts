/** A piece of work that ended. */
export interface FinishedSpan {
  /** 32 hex digits; spans that belong together share it. */
  readonly traceId: string;
  /** 16 hex digits; generated when absent. */
  readonly spanId?: string | undefined;
  readonly parentSpanId?: string | undefined;
  /** `client` by default: an outgoing request. */
  readonly kind?: 'client' | 'server' | 'internal' | undefined;
  readonly name: string;
  /** Epoch; may have a fraction. */
  readonly startMs: number;
  readonly durationMs: number;
  /** `undefined`: unknown. */
  readonly isFailure: boolean | undefined;
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** Takes spans for whoever looks at traces. Never fails and never makes its caller wait. */
export interface Tracer {
  record(span: FinishedSpan): void;
  /** Sends what waits, once. */
  close(): Promise<void>;
}
