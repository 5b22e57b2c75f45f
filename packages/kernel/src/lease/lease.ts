/** Background jobs run under a named lease, so that only one of several nodes does the work. */
export interface Leases {
  /** Runs `work` while this node holds `name`. Resolves to `undefined` immediately when the lease is taken. */
  withLease<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined>;
}
