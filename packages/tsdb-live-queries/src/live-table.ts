import type { TableBatch } from '@plinth/tsdb-engine/write/write-sequencer.js';
import type { SeriesLookup } from '@plinth/tsdb-model/series/series-lookup.js';
import { BatchRows } from './batch-rows.js';
import type { LiveQuery } from './live-query.js';

/** Conditions with more values than this are checked for each series. */
const MAX_INDEXED_VALUES = 64;

const NONE: readonly LiveQuery[] = [];

/** The live queries of one table, indexed by the tag values that they require. */
export class LiveTable {
  readonly queries = new Set<LiveQuery>();
  readonly #byTag = new Map<string, Map<string | undefined, Set<LiveQuery>>>();
  /** Queries that do not require a specific tag value. */
  readonly #others = new Set<LiveQuery>();
  /** The queries that match each series, by ordinal; determined when its first row is written. */
  #bySeries: (readonly LiveQuery[] | undefined)[] = [];

  add(query: LiveQuery): void {
    this.queries.add(query);
    for (const set of this.#setsOf(query)) set.add(query);
    this.#bySeries = [];
  }

  delete(query: LiveQuery): void {
    this.queries.delete(query);
    this.#bySeries = [];
    const condition = indexedCondition(query);
    if (condition === undefined) {
      this.#others.delete(query);
      return;
    }
    const { tag, values } = condition;
    const byValue = this.#byTag.get(tag);
    for (const value of values) {
      const set = byValue?.get(value);
      set?.delete(query);
      if (set?.size === 0) byValue?.delete(value);
    }
    if (byValue?.size === 0) this.#byTag.delete(tag);
  }

  /** Calls `take` for each row and each query whose series conditions it meets. */
  match(batch: TableBatch, take: (query: LiveQuery, rows: BatchRows, row: number) => void): void {
    const rows = new BatchRows(batch);
    const { seriesOrdinals, rowCount } = rows.batch;
    for (let row = 0; row < rowCount; row++) {
      const ordinal = seriesOrdinals[row] as number;
      const queries = this.#bySeries[ordinal] ?? this.#find(rows.series, ordinal);
      if (queries === NONE) continue;
      for (const query of queries) take(query, rows, row);
    }
  }

  #find(series: SeriesLookup, ordinal: number): readonly LiveQuery[] {
    const found: LiveQuery[] = [];
    const check = (queries: ReadonlySet<LiveQuery> | undefined): void => {
      for (const query of queries ?? [])
        if (query.series.matches(series, ordinal)) found.push(query);
    };
    check(this.#others);
    for (const [tag, byValue] of this.#byTag) check(byValue.get(series.tagValue(ordinal, tag)));
    const queries = found.length === 0 ? NONE : found;
    // An array without holes is faster.
    while (this.#bySeries.length < ordinal) this.#bySeries.push(undefined);
    this.#bySeries[ordinal] = queries;
    return queries;
  }

  #setsOf(query: LiveQuery): readonly Set<LiveQuery>[] {
    const condition = indexedCondition(query);
    if (condition === undefined) return [this.#others];
    const { tag, values } = condition;
    const byValue = this.#byTag.get(tag) ?? new Map<string | undefined, Set<LiveQuery>>();
    this.#byTag.set(tag, byValue);
    return values.map((value) => {
      const set = byValue.get(value) ?? new Set();
      byValue.set(value, set);
      return set;
    });
  }
}

const indexedCondition = ({ plan }: LiveQuery) =>
  plan.conditions.tagConditions.find(
    ({ op, values }) => op === 'in' && values.length <= MAX_INDEXED_VALUES,
  );
