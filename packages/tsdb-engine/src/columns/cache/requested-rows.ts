/** Tables that no query has read for this long are not loaded ahead of queries. */
const REQUESTED_MS = 3_600_000;

/** Start of the time range that recent queries of one table have requested. */
export class RequestedRows {
  readonly #nowMs: () => number;
  #request: { readonly atMs: number; readonly fromNs: bigint } | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Keeps the earliest start within the last hour, because the time range of most queries moves
   * with the current time.
   */
  note(fromNs: bigint): void {
    const before = this.#current();
    if (before === undefined || fromNs <= before.fromNs)
      this.#request = { atMs: this.#nowMs(), fromNs };
  }

  /** Whether queries have requested rows at or before this time. */
  has(maxTimeNs: bigint): boolean {
    const request = this.#current();
    return request !== undefined && request.fromNs <= maxTimeNs;
  }

  #current(): { readonly atMs: number; readonly fromNs: bigint } | undefined {
    const request = this.#request;
    return request !== undefined && this.#nowMs() - request.atMs < REQUESTED_MS
      ? request
      : undefined;
  }
}
