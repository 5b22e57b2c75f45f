/** The cost of a request to a route. */
export interface RouteCost {
  /** The bucket of the primary limit; the service's own by default. */
  readonly resource?: string;
  /** The cost in the primary limit; 1 by default, 0 for free. */
  readonly cost?: number;
  /** The number of points in the per-endpoint limit per minute; depends on the method by default. */
  readonly points?: number;
  /** Whether the request creates content that others see. */
  readonly content?: boolean;
  /** A lower content limit for this endpoint. */
  readonly contentPerMinute?: number;
  /** The weight of a compute-heavy request. */
  readonly heavy?: number;
  /** A query of a graph API; `mutation` marks a change. */
  readonly graph?: boolean | { readonly mutation: boolean };
  /** Exempt from counting and limits. */
  readonly exempt?: boolean;
  /** The name under which points are counted; the route's template by default. */
  readonly endpoint?: string;
  /** The response is an endless stream, so its slot is released when the headers are written. */
  readonly longLived?: boolean;
}
