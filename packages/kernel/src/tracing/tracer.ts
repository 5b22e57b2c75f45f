/** A piece of work that ended: something that this server asked of another. */
export interface FinishedSpan {
  /** 32 hex digits; spans that belong together share it. */
  readonly traceId: string;
  readonly name: string;
  /** Epoch. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly isFailure: boolean;
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** Takes spans for whoever looks at traces. Never fails and never makes its caller wait. */
export interface Tracer {
  record(span: FinishedSpan): void;
  /** Sends what waits, once. */
  close(): Promise<void>;
}
