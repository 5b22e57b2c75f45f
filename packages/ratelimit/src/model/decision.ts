/** Which limit a request ran into. `ban`: the caller went on and on after it had been refused. */
export type LimitKind =
  | 'primary'
  | 'concurrency'
  | 'points_rest'
  | 'points_graph'
  | 'cpu'
  | 'cpu_graph'
  | 'content_minute'
  | 'content_hour'
  | 'heavy'
  | 'token_creation'
  | 'ban';

/** What a store says to one request. */
export interface Decision {
  readonly isAllowed: boolean;
  /** `undefined`: allowed. */
  readonly limitedBy: LimitKind | undefined;
  /** Of the bucket of the primary limit; `UNLIMITED` where nothing is counted. */
  readonly limit: number;
  /** After this request. */
  readonly used: number;
  /** Epoch seconds; of a bucket without a window: when one that starts at once would end. */
  readonly resetSec: number;
  /** At least 1 for a refusal, 0 for an admission. */
  readonly retryAfterSec: number;
}

/** State of one bucket, as shown to its owner. */
export interface BucketUsage {
  readonly used: number;
  readonly resetSec: number;
}

/** Sums that are held against an identity beside its buckets; for operators alone. */
export interface SecondaryUsage {
  readonly concurrency: number;
  readonly cpu_ms: number;
  readonly cpu_graph_ms: number;
  readonly content_minute: number;
  readonly content_hour: number;
  readonly heavy: number;
  /** By endpoint; the endpoints with most points first. */
  readonly points: readonly { readonly endpoint: string; readonly points: number }[];
}

export interface Ban {
  readonly identity: string;
  /** Epoch seconds. */
  readonly untilSec: number;
  /** 1 for the first; every further one within a day lasts twice as long. */
  readonly level: number;
}
