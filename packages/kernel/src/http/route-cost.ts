/** What a request to a route costs its caller. */
export interface RouteCost {
  /** Bucket of the primary limit; the service's own unless told otherwise. */
  readonly resource?: string;
  /** Of the primary limit; 1 unless told otherwise, 0 counts nothing. */
  readonly cost?: number;
  /** Of the limit per endpoint and minute; by method unless told otherwise. */
  readonly points?: number;
  /** The request creates content that others see. */
  readonly content?: boolean;
  /** A lower limit of content for this endpoint alone. */
  readonly contentPerMinute?: number;
  /** Weight of a compute-heavy request. */
  readonly heavy?: number;
  /** A query of a graph API; `mutation` makes it a change. */
  readonly graph?: boolean | { readonly mutation: boolean };
  /** Nothing is counted or checked. */
  readonly exempt?: boolean;
  /** Name under which points are counted; the route's template unless told otherwise. */
  readonly endpoint?: string;
  /** The answer streams without end: its slot is given back when the headers are written. */
  readonly longLived?: boolean;
}
