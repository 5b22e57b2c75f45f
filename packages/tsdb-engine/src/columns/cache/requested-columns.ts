/** Columns that no query has requested for this long are not loaded ahead of queries. */
const REQUESTED_MS = 3_600_000;

/** Columns of one table that queries have requested recently, with the start of the requested time. */
export class RequestedColumns {
  readonly #nowMs: () => number;
  /** By column id; bounded by the number of columns. */
  readonly #requests = new Map<number, { readonly atMs: number; readonly fromNs: bigint }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Keeps the earliest start within the last hour: most queries move with the time. */
  note(columns: readonly { readonly id: number }[], fromNs: bigint): void {
    const atMs = this.#nowMs();
    for (const { id } of columns) {
      const before = this.#current(id);
      if (before === undefined || fromNs <= before.fromNs) this.#requests.set(id, { atMs, fromNs });
    }
  }

  /** Whether queries have requested rows of the column at or before this time. */
  has(id: number, maxTimeNs: bigint): boolean {
    const request = this.#current(id);
    return request !== undefined && request.fromNs <= maxTimeNs;
  }

  #current(id: number): { readonly atMs: number; readonly fromNs: bigint } | undefined {
    const request = this.#requests.get(id);
    return request !== undefined && this.#nowMs() - request.atMs < REQUESTED_MS
      ? request
      : undefined;
  }
}
