/** Data for a read without `include`; see `AccountStore.summary`. */
export interface CachedSummary {
  readonly tenant: string;
  readonly summaryJson: string;
  readonly isClosed: boolean;
  readonly flags: number;
  readonly nextEvaluationMs: number | undefined;
}

const MAX_SIZE_CHARS = 32 * 1024 * 1024;

/** LRU cache of account summaries. One process owns the data, so every commit updates the cache. */
export class SummaryCache {
  readonly #entries = new Map<string, CachedSummary>();
  #sizeChars = 0;
  /** Number of commits, used to discard reads that started before the latest commit. */
  #commitCount = 0;

  get commitCount(): number {
    return this.#commitCount;
  }

  get(id: string): CachedSummary | undefined {
    const found = this.#entries.get(id);
    if (found === undefined) return undefined;
    this.#entries.delete(id);
    this.#entries.set(id, found);
    return found;
  }

  /** Caches a summary unless a commit followed the start of the read. @param commitCount at the start of the read. */
  keepRead(id: string, summary: CachedSummary, commitCount: number): void {
    if (commitCount === this.#commitCount) this.#put(id, summary);
  }

  keepWritten(id: string, summary: CachedSummary): void {
    this.#commitCount += 1;
    this.#put(id, summary);
  }

  #put(id: string, summary: CachedSummary): void {
    const old = this.#entries.get(id);
    if (old !== undefined) {
      this.#sizeChars -= old.summaryJson.length;
      this.#entries.delete(id);
    }
    this.#entries.set(id, summary);
    this.#sizeChars += summary.summaryJson.length;
    for (const [oldest, { summaryJson }] of this.#entries) {
      if (this.#sizeChars <= MAX_SIZE_CHARS) return;
      this.#entries.delete(oldest);
      this.#sizeChars -= summaryJson.length;
    }
  }
}
