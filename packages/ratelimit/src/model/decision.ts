export const LIMIT_KINDS = [
  'primary',
  'concurrency',
  'points_rest',
  'points_graph',
  'cpu',
  'cpu_graph',
  'content_minute',
  'content_hour',
  'heavy',
  'token_creation',
  'ban',
] as const;

/** The limit that a request exceeded. `ban`: the caller continued after many refusals. */
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** Decision of a store about one request. */
export interface Decision {
  readonly isAllowed: boolean;
  /** `undefined`: allowed. */
  readonly limitedBy: LimitKind | undefined;
  /** Limit of the primary bucket; `UNLIMITED` if nothing is counted. */
  readonly limit: number;
  /** Usage including this request. */
  readonly used: number;
  /** Epoch seconds. Without an open window, this is the reset of a window that starts now. */
  readonly resetSec: number;
  /** At least 1 for a refusal, 0 otherwise. */
  readonly retryAfterSec: number;
}

/** Usage of one bucket, as shown to its owner. */
export interface BucketUsage {
  readonly used: number;
  readonly resetSec: number;
}

/** Counters of the secondary limits of an identity, visible only to operators. */
export interface SecondaryUsage {
  readonly concurrency: number;
  readonly cpu_ms: number;
  readonly cpu_graph_ms: number;
  readonly content_minute: number;
  readonly content_hour: number;
  readonly heavy: number;
  /** Points by endpoint, highest first. */
  readonly points: readonly { readonly endpoint: string; readonly points: number }[];
}

export interface Ban {
  readonly identity: string;
  /** Epoch seconds. */
  readonly untilSec: number;
  /** 1 for the first ban; each further one within a day lasts twice as long. */
  readonly level: number;
}
