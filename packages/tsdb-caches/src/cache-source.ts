import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@plinth/kernel';
import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { ScannedTable } from '@plinth/tsdb-model/query/planned-query.js';
import { MIN_TIME_NS, type ScanRequest, type ScanSource } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { columnsOf } from './cache-definitions.js';
import type { CacheRows, RowsText } from './cache-rows.js';
import type { DistinctCache } from './distinct-cache.js';
import type { LastCache } from './last-cache.js';
import type { LiveCache } from './live-cache.js';
import type { KeyValue } from './row-keys.js';

/** More rows than this are sorted by DuckDB. */
const MAX_SORTED_ROWS = 256;
/** Combinations checked before yielding to the event loop. */
const SLOTS_PER_TICK = 50_000;

/** Returns a table whose scans read the cache. */
export function cacheTable(live: LiveCache, rows: CacheRows, clock: Clock): ScannedTable {
  const { content, definition, table } = live;
  const visibleFromNs = () => live.visibleFromNs();
  const prepare = async (
    request: ScanRequest,
    read: (columns: readonly Column[]) => Promise<RowsText>,
  ): Promise<RowsText> => {
    await live.filled;
    return await read(request.columns.flatMap((name) => request.table.columns.get(name) ?? []));
  };
  if (content.kind === 'distinct' && definition.kind === 'distinct') {
    const columns = columnsOf(table, definition.columnIds);
    const source: ScanSource = {
      prepare: (request) =>
        prepare(request, (requestedColumns) =>
          readDistinct(content.cache, {
            columns,
            requestedColumns,
            request,
            rows,
            clock,
            visibleFromNs,
          }),
        ),
    };
    return { source, table: snapshotOf(table, columns) };
  }
  if (content.kind !== 'last' || definition.kind !== 'last')
    throw new TypeError('the content of a cache must match its kind');
  const keys = columnsOf(table, definition.keyColumnIds);
  const source: ScanSource = {
    prepare: (request) =>
      prepare(request, (requestedColumns) =>
        readLast(content.cache, { keys, requestedColumns, request, rows, clock, visibleFromNs }),
      ),
  };
  const others = [...table.columns.values()].filter((column) => !keys.includes(column));
  const named = definition.valueColumnIds && columnsOf(table, definition.valueColumnIds);
  const time = others.filter(({ kind }) => kind === 'time');
  const values =
    named === undefined ? others : [...named.filter(({ kind }) => kind !== 'time'), ...time];
  return { source, table: snapshotOf(table, [...keys, ...values]) };
}

/** Returns the schema that a query uses. It is not in the catalog, and its columns have the order of the cache. */
function snapshotOf(table: TableSchema, columns: readonly Column[]): TableSchema {
  return {
    ...table,
    columns: new Map(columns.map((column) => [column.name, column])),
    seriesKey: [],
  };
}

interface CacheRead {
  readonly requestedColumns: readonly Column[];
  readonly request: ScanRequest;
  readonly rows: CacheRows;
  readonly clock: Clock;
  readonly visibleFromNs: () => bigint;
}

async function readLast(
  cache: LastCache,
  options: CacheRead & { readonly keys: readonly Column[] },
): Promise<RowsText> {
  const { keys, requestedColumns, request } = options;
  const found: { readonly slot: number; readonly entry: number }[] = [];
  let count = 0;
  const fromNs = options.visibleFromNs();
  for (const each of cache.entries(request.tagConditions, options.clock.nowMs())) {
    if (fromNs === MIN_TIME_NS || cache.timeOf(each.entry) >= fromNs) found.push(each);
    if (++count % SLOTS_PER_TICK === 0) await setImmediate();
  }
  if (found.length <= MAX_SORTED_ROWS) {
    // The sort is stable, so the rows of one key stay newest first.
    found.sort((a, b) =>
      compareKeys(
        keys,
        (i) => cache.keyOf(a.slot, i),
        (i) => cache.keyOf(b.slot, i),
      ),
    );
  }
  const readers = requestedColumns.map(
    (column): ((row: { slot: number; entry: number }) => KeyValue | number) => {
      const position = keys.indexOf(column);
      if (position >= 0) return ({ slot }) => cache.keyOf(slot, position);
      if (column.kind === 'time') return ({ entry }) => cache.timeOf(entry);
      return ({ entry }) => cache.valueOf(entry, column);
    },
  );
  return await options.rows.toText({
    columns: requestedColumns,
    rowCount: found.length,
    rowAt: (row) => {
      const at = found[row] as { slot: number; entry: number }; // row < rowCount
      return readers.map((read) => read(at));
    },
    orderBy: keys.filter((key) => requestedColumns.includes(key)),
  });
}

async function readDistinct(
  cache: DistinctCache,
  options: CacheRead & { readonly columns: readonly Column[] },
): Promise<RowsText> {
  const { columns, request } = options;
  // Keep the column order of the cache, so that its sort order still applies.
  const requestedColumns = columns.filter((column) => options.requestedColumns.includes(column));
  const isPrefix =
    requestedColumns.length > 0 && requestedColumns.every((column, i) => column === columns[i]);
  const seen = new Set<string>();
  let found: KeyValue[][] = [];
  let count = 0;
  const fromNs = options.visibleFromNs();
  for (const slot of cache.slots(request.tagConditions, options.clock.nowNs(), fromNs)) {
    const values = requestedColumns.map((column) => cache.valueOf(slot, columns.indexOf(column)));
    if (++count % SLOTS_PER_TICK === 0) await setImmediate();
    if (isPrefix && requestedColumns.length < columns.length) {
      const key = JSON.stringify(values.map((value) => value ?? null));
      if (seen.has(key)) continue;
      seen.add(key);
    }
    found.push(values);
  }
  if (found.length <= MAX_SORTED_ROWS) {
    found = found.sort((a, b) =>
      compareKeys(
        requestedColumns,
        (i) => a[i],
        (i) => b[i],
      ),
    );
  }
  return await options.rows.toText({
    columns: requestedColumns,
    rowCount: found.length,
    rowAt: (row) => found[row] ?? [],
    orderBy: requestedColumns,
  });
}

/** Compares keys; NULL sorts first, strings by their bytes. */
function compareKeys(
  columns: readonly Column[],
  a: (position: number) => KeyValue,
  b: (position: number) => KeyValue,
): number {
  for (let i = 0; i < columns.length; i++) {
    const [left, right] = [a(i), b(i)];
    if (left === right) continue;
    if (left === undefined) return -1;
    if (right === undefined) return 1;
    if (typeof left === 'string' && typeof right === 'string') {
      return compareByteOrder(left, right);
    }
    return left < right ? -1 : 1;
  }
  return 0;
}
