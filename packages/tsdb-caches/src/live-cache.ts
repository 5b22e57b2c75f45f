import type { Clock } from '@plinth/kernel';
import type { TableStore } from '@plinth/tsdb-engine/table/table-store.js';
import { batchSizeBytes, type RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import { MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { type CacheDefinition, columnsOf } from './cache-definitions.js';
import { latestArrival, readHistory } from './cache-history.js';
import { DistinctCache } from './distinct-cache.js';
import { LastCache } from './last-cache.js';

/**
 * Maximum size of rows that are buffered while history is read. Above this size, they are added before the remaining
 * history.
 */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

export type CacheContent =
  | { readonly kind: 'last'; readonly cache: LastCache }
  | { readonly kind: 'distinct'; readonly cache: DistinctCache };

export interface LiveCacheDeps {
  readonly store: TableStore;
  readonly duckDb: DuckDbHost;
  readonly clock: Clock;
  /** Start of the table's retention period. */
  readonly visibleFromNs: () => bigint;
}

/** A running cache. It is filled from stored rows, then updated by every write. */
export class LiveCache {
  readonly definition: CacheDefinition;
  readonly content: CacheContent;
  /** Resolves when the history is loaded; rejects if it could not be read. */
  readonly filled: Promise<void>;
  readonly #deps: LiveCacheDeps;
  readonly #stop = new AbortController();
  readonly #endObserving: () => void;
  #waiting: { readonly batch: RowBatch; readonly nowNs: bigint }[] | undefined = [];
  #waitingBytes = 0;

  constructor(definition: CacheDefinition, deps: LiveCacheDeps) {
    this.definition = definition;
    this.#deps = deps;
    this.content = newContent(definition, deps.store);
    this.#endObserving = deps.store.observe((batch) => this.#observe(batch));
    this.filled = this.#fill();
    this.filled.catch(() => undefined); // Queries that use the cache report the failure.
  }

  get table(): TableSchema {
    return this.#deps.store.schema;
  }

  /** Returns the start of the retention period, which may have changed since earlier rows were added. */
  visibleFromNs(): bigint {
    return this.#deps.visibleFromNs();
  }

  close(): void {
    this.#endObserving();
    this.#stop.abort();
    this.#waiting = undefined;
  }

  #observe(batch: RowBatch): void {
    const nowNs = this.#deps.clock.nowNs();
    if (this.#waiting === undefined) {
      this.#take(batch, nowNs);
      return;
    }
    this.#waiting.push({ batch, nowNs });
    this.#waitingBytes += batchSizeBytes(batch);
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#takeWaiting([]);
  }

  #takeWaiting(after: [] | undefined): void {
    for (const { batch, nowNs } of this.#waiting ?? []) this.#take(batch, nowNs);
    this.#waiting = after;
    this.#waitingBytes = 0;
  }

  #take(batch: RowBatch, nowNs: bigint): void {
    const { content } = this;
    if (content.kind === 'last') content.cache.take(batch, Number(nowNs / 1_000_000n));
    else content.cache.take(batch, nowNs);
  }

  async #fill(): Promise<void> {
    const { store, duckDb, clock } = this.#deps;
    const { definition, content } = this;
    const nowNs = clock.nowNs();
    const { signal } = this.#stop;
    const fromNs = this.#deps.visibleFromNs();
    try {
      await store.series.whenIndexed();
      if (content.kind === 'last' && definition.kind === 'last') {
        const by = columnsOf(store.schema, definition.keyColumnIds);
        const values =
          definition.valueColumnIds && columnsOf(store.schema, definition.valueColumnIds);
        const fields = [...new Set([...by, ...(values ?? store.schema.columns.values())])].filter(
          ({ kind }) => kind !== 'tag' && kind !== 'time',
        );
        const keep = { kind: 'latest', by, count: definition.count } as const;
        const arrivalOf = latestArrival(store);
        const request = { store, duckDb, fields, minTimeNs: fromNs, keep, signal };
        const oldestMs = Number(nowNs / 1_000_000n) - definition.ttlSec * 1000;
        for await (const batch of readHistory(request)) {
          const arrivalTimes = Float64Array.from(batch.times, arrivalOf);
          content.cache.takeArrivedSince(batch, arrivalTimes, oldestMs);
        }
      } else if (content.kind === 'distinct' && definition.kind === 'distinct') {
        const oldestNs = nowNs - BigInt(definition.maxAgeSec) * 1_000_000_000n;
        const fields = columnsOf(store.schema, definition.columnIds).filter(
          ({ kind }) => kind !== 'tag',
        );
        const minTimeNs = [fromNs, oldestNs, MIN_TIME_NS].reduce((a, b) => (a > b ? a : b));
        const keep = { kind: 'combinations' } as const;
        for await (const batch of readHistory({
          store,
          duckDb,
          fields,
          minTimeNs,
          keep,
          signal,
        })) {
          content.cache.take(batch, nowNs);
        }
      }
    } finally {
      if (!signal.aborted) this.#takeWaiting(undefined);
    }
  }
}

function newContent(definition: CacheDefinition, { schema, series }: TableStore): CacheContent {
  const { index } = series;
  if (definition.kind === 'distinct') {
    const cache = new DistinctCache({
      index,
      columns: columnsOf(schema, definition.columnIds),
      maxCardinality: definition.maxCardinality,
      maxAgeNs: BigInt(definition.maxAgeSec) * 1_000_000_000n,
    });
    return { kind: 'distinct', cache };
  }
  const cache = new LastCache({
    index,
    keyColumns: columnsOf(schema, definition.keyColumnIds),
    valueColumns: definition.valueColumnIds && columnsOf(schema, definition.valueColumnIds),
    count: definition.count,
    ttlMs: definition.ttlSec * 1000,
  });
  return { kind: 'last', cache };
}
