import { collectedRows } from '@plinth/tsdb-engine/query/collected-rows.js';
import type { TableStore } from '@plinth/tsdb-engine/table/table-store.js';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { BatchField, RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import { isValid } from '@plinth/tsdb-model/columns/row-batch.js';
import { MAX_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { quoteName } from '@plinth/tsdb-model/text/quote.js';
import { columnType } from '@plinth/tsdb-sql/plan/select/column-type.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';

/** A request for the rows of a table that fill a cache. */
export interface HistoryRequest {
  readonly store: TableStore;
  readonly duckDb: DuckDbHost;
  /** Fields to read in addition to all tags and `time`. */
  readonly fields: readonly Column[];
  readonly minTimeNs: bigint;
  readonly keep: /** Keeps the latest `count` rows of each combination of `by` values. */
    | { readonly kind: 'latest'; readonly by: readonly Column[]; readonly count: number }
    /** Keeps each combination of tags and fields once, with its latest time. */
    | { readonly kind: 'combinations' };
  readonly signal: AbortSignal;
}

/** Reads stored rows in batches. Rows with the same key are in time order, oldest first. */
export async function* readHistory(request: HistoryRequest): AsyncGenerator<RowBatch> {
  const { store, duckDb, fields, keep, signal } = request;
  const { schema } = store;
  const tags = [...schema.columns.values()].filter(({ kind }) => kind === 'tag');
  const time = schema.columns.get('time');
  if (time === undefined) return;
  const columns = [...tags, ...fields, time];
  const isLastOfSeries =
    keep.kind === 'latest' && keep.count === 1 && keep.by.every(({ kind }) => kind === 'tag');
  const scan = await store.prepareScan(
    {
      table: schema,
      columns: columns.map(({ name }) => name),
      minTimeNs: request.minTimeNs,
      maxTimeNs: MAX_TIME_NS,
      tagConditions: [],
      lastRowsOnly: isLastOfSeries,
    },
    request.minTimeNs,
    signal,
  );
  try {
    const output = columns.map(
      ({ kind, name }): OutputColumn => ({
        name,
        type: columnType(kind === 'tag' ? 'utf8' : kind),
        tableColumnKind: undefined,
      }),
    );
    const text = historyText(scan.text, columns, isLastOfSeries ? undefined : keep);
    const chunks = duckDb.stream({
      text,
      columns: output,
      isMaterialized: false,
      isBackground: true,
      signal,
    });
    for await (const chunk of chunks) {
      yield toBatch(chunk, { store, tags, fields });
    }
  } finally {
    scan.release();
  }
}

function historyText(
  rows: string,
  columns: readonly Column[],
  keep: HistoryRequest['keep'] | undefined,
): string {
  const names = columns.map(({ physicalName }) => quoteName(physicalName));
  if (keep === undefined) return collectedRows(`SELECT ${names.join(', ')} FROM ${rows}`);
  if (keep.kind === 'combinations') {
    const all = names.slice(0, -1);
    const by = all.length === 0 ? ' HAVING count(*) > 0' : ` GROUP BY ${all.join(', ')}`;
    return `SELECT ${[...all, 'max("time") AS "time"'].join(', ')} FROM ${rows}${by}`;
  }
  const by = keep.by.map(({ physicalName }) => quoteName(physicalName));
  const partition = by.length === 0 ? '' : `PARTITION BY ${by.join(', ')} `;
  const numbered = `SELECT *, row_number() OVER (${partition}ORDER BY "time" DESC) AS _seq_number FROM ${rows}`;
  return `SELECT ${names.join(', ')} FROM (${numbered}) WHERE _seq_number <= ${keep.count} ORDER BY "time"`;
}

function toBatch(
  { rowCount, columns }: ResultChunk,
  options: {
    readonly store: TableStore;
    readonly tags: readonly Column[];
    readonly fields: readonly Column[];
  },
): RowBatch {
  const { store, tags, fields } = options;
  const series = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const keys: string[] = [];
    const values: string[] = [];
    tags.forEach(({ name }, i) => {
      const value = cellAt(columns[i], row);
      if (typeof value !== 'string') return;
      keys.push(name);
      values.push(value);
    });
    series[row] = store.series.index.resolve(keys, values);
  }
  const times = BigInt64Array.from(
    { length: rowCount },
    (_, row) => columns.at(-1)?.values[row] as bigint, // the last column is `time`
  );
  return {
    rowCount,
    seriesOrdinals: series,
    times,
    fields: fields.map((column, i) => toField(column, columns[tags.length + i], rowCount)),
  };
}

type Vector = ResultChunk['columns'][number];

function cellAt(vector: Vector | undefined, row: number): unknown {
  if (vector === undefined) return undefined;
  const { values, validity } = vector;
  return isValid(validity, row) ? values[row] : undefined;
}

/**
 * Copies the cells, because DuckDB frees the vectors with their chunk. The values have the column's
 * type.
 */
function toField(column: Column, vector: Vector | undefined, rowCount: number): BatchField {
  const cells = Array.from({ length: rowCount }, (_, row) => cellAt(vector, row));
  const validity = new Uint8Array((rowCount + 7) >> 3);
  cells.forEach((cell, row) => {
    if (cell !== undefined) validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
  });
  const { kind } = column;
  switch (kind) {
    case 'float64':
      return {
        column,
        validity,
        data: { type: kind, values: Float64Array.from(cells, (c) => Number(c ?? 0)) },
      };
    case 'int64':
      return {
        column,
        validity,
        data: { type: kind, values: BigInt64Array.from(cells, (c) => BigInt(String(c ?? 0))) },
      };
    case 'uint64':
      return {
        column,
        validity,
        data: { type: kind, values: BigUint64Array.from(cells, (c) => BigInt(String(c ?? 0))) },
      };
    case 'bool':
      return {
        column,
        validity,
        data: { type: kind, values: Uint8Array.from(cells, (c) => Number(c ?? 0)) },
      };
    default: {
      const texts = cells.map((cell) => Buffer.from(typeof cell === 'string' ? cell : ''));
      const offsets = new Uint32Array(rowCount + 1);
      texts.forEach((text, row) => {
        offsets[row + 1] = (offsets[row] as number) + text.length;
      });
      return { column, validity, data: { type: 'utf8', offsets, bytes: Buffer.concat(texts) } };
    }
  }
}

/**
 * Returns a function that computes the latest possible arrival of a row with a given timestamp, in milliseconds. Rows
 * do not store their arrival, so it is derived from the files and generations that cover the timestamp.
 */
export function latestArrival(store: TableStore): (timeNs: bigint) => number {
  const latestFirst = [...store.rowsArrived()].sort((a, b) => (a.maxSeq > b.maxSeq ? -1 : 1));
  return (timeNs) => {
    const found = latestFirst.find(
      ({ minTime, maxTime }) => minTime <= timeNs && timeNs <= maxTime,
    );
    return Number((found?.maxSeq ?? 0n) / 1_000_000n);
  };
}
