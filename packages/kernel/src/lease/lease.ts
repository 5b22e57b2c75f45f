/** Background jobs run under a named lease, so that with several nodes one of them does the work. */
export interface Leases {
  /** Runs `work` while this node holds `name`; resolves to `undefined` at once when it is held already. */
  withLease<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined>;
}
