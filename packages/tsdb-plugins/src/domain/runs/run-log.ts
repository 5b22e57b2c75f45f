import type { LogLevel } from '@plinth/tsdb-model/plugins/plugin-host.js';

export interface RunLogEntry {
  readonly timeNs: bigint;
  readonly databaseId: number;
  readonly triggerName: string;
  readonly level: LogLevel;
  readonly text: string;
}

/**
 * Limits for all triggers together; the oldest lines are dropped. Source: processing-engine,
 * "System tables and log lines".
 */
const MAX_ENTRY_COUNT = 10_000;
const MAX_SIZE_CHARS = 64 * 1024 * 1024;

/** Log lines of plugin runs, in memory. */
export class RunLog {
  #entries: RunLogEntry[] = [];
  #first = 0;
  #sizeChars = 0;
  readonly #watchers = new Set<(entry: RunLogEntry) => void>();

  /** Calls `notify` for each new line. */
  watch(notify: (entry: RunLogEntry) => void): Disposable {
    this.#watchers.add(notify);
    return { [Symbol.dispose]: () => void this.#watchers.delete(notify) };
  }

  add(entry: RunLogEntry): void {
    for (const watch of this.#watchers) watch(entry);
    this.#entries.push(entry);
    this.#sizeChars += entry.text.length;
    while (
      this.#entries.length - this.#first > MAX_ENTRY_COUNT ||
      (this.#sizeChars > MAX_SIZE_CHARS && this.#first < this.#entries.length - 1)
    ) {
      this.#sizeChars -= this.#entries[this.#first]?.text.length ?? 0;
      this.#first++;
    }
    // Compact the array only occasionally, because it copies all remaining lines.
    if (this.#first > MAX_ENTRY_COUNT) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }

  /** Returns the lines of one database or of all, oldest first. */
  entries(databaseId?: number): readonly RunLogEntry[] {
    const retained = this.#entries.slice(this.#first);
    return databaseId === undefined
      ? retained
      : retained.filter((entry) => entry.databaseId === databaseId);
  }
}
