import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { BatchField, RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import {
  type SegmentFolder,
  withSegmentFiles,
} from '@plinth/tsdb-storage/testing/with-segment-files.js';
import { ColumnCache } from '../columns/cache/column-cache.js';
import { TableStore } from '../table/table-store.js';
import type { Tombstone } from '../table/tombstones.js';

const HOST: Column = { id: 1, name: 'host', kind: 'tag', physicalName: 'host' };
const TIME: Column = { id: 2, name: 'time', kind: 'time', physicalName: 'time' };
const A: Column = { id: 3, name: 'a', kind: 'int64', physicalName: 'a' };
const B: Column = { id: 4, name: 'b', kind: 'utf8', physicalName: 'b' };

const SCHEMA: TableSchema = {
  id: 7,
  uuid: '0190e4f4-0000-7000-8000-000000000007',
  databaseId: 1,
  name: 't',
  columns: new Map([A, B, HOST, TIME].map((column) => [column.name, column])),
  seriesKey: ['host'],
  seriesSeed: 99n,
  version: 1,
};

export interface Row {
  readonly host: string;
  readonly time: bigint;
  readonly a: bigint | undefined;
  readonly b: string | undefined;
}

export interface Deletion {
  /** Absent means every host. */
  readonly host: string | undefined;
  readonly minTime: bigint;
  readonly maxTime: bigint;
  readonly fields: readonly ('a' | 'b')[] | undefined;
}

export function tombstoneOf(deletion: Deletion, seq: bigint): Tombstone {
  const { host, minTime, maxTime, fields } = deletion;
  return {
    ...{ id: String(seq), tableId: SCHEMA.id, seq, minTimeNs: minTime, maxTimeNs: maxTime },
    anyOf: [host === undefined ? [] : [{ tag: 'host', op: 'in', values: [host] }]],
    ...(fields && { columnIds: fields.map((name) => (name === 'a' ? A.id : B.id)) }),
  };
}

export const DAY = 86_400_000_000_000n;

export function batchOf(rows: readonly Row[], store: TableStore): RowBatch {
  const series = Uint32Array.from(rows, (row) => store.series.index.resolve(['host'], [row.host]));
  const validity = (has: (row: Row) => boolean): Uint8Array | undefined => {
    if (rows.every(has)) return undefined;
    const bits = new Uint8Array((rows.length + 7) >> 3);
    rows.forEach((row, i) => {
      if (has(row)) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
    });
    return bits;
  };
  const fields: BatchField[] = [];
  if (rows.some((row) => row.a !== undefined)) {
    const values = BigInt64Array.from(rows, (row) => row.a ?? 0n);
    fields.push({
      column: A,
      data: { type: 'int64', values },
      validity: validity((r) => r.a !== undefined),
    });
  }
  if (rows.some((row) => row.b !== undefined)) {
    const texts = rows.map((row) => Buffer.from(row.b ?? ''));
    const offsets = new Uint32Array(rows.length + 1);
    texts.forEach((text, i) => {
      offsets[i + 1] = (offsets[i] ?? 0) + text.length;
    });
    fields.push({
      column: B,
      data: { type: 'utf8', offsets, bytes: Buffer.concat(texts) },
      validity: validity((r) => r.b !== undefined),
    });
  }
  return {
    rowCount: rows.length,
    seriesOrdinals: series,
    times: BigInt64Array.from(rows, (row) => row.time),
    fields,
  };
}

/** Expected content of the table: later writes replace earlier ones field by field. */
export class Model {
  readonly points = new Map<string, { a: bigint | null; b: string | null }>();

  write(rows: readonly Row[]): void {
    for (const row of rows) {
      const key = `${row.host} ${row.time}`;
      const before = this.points.get(key) ?? { a: null, b: null };
      this.points.set(key, { a: row.a ?? before.a, b: row.b ?? before.b });
    }
  }

  /** Deletes values of fields, and points without another value; without `fields`, complete points. */
  delete({ host, minTime, maxTime, fields }: Deletion): void {
    for (const [key, { a, b }] of this.points) {
      const [ofHost, time = ''] = key.split(' ');
      if (host !== undefined && ofHost !== host) continue;
      if (BigInt(time) < minTime || BigInt(time) > maxTime) continue;
      const left = {
        a: fields?.includes('a') === false ? a : null,
        b: fields?.includes('b') === false ? b : null,
      };
      if (left.a === null && left.b === null) this.points.delete(key);
      else this.points.set(key, left);
    }
  }

  /** Returns the points with the latest timestamp of their host. */
  lastRows(): string[] {
    const last = new Map<string, bigint>();
    for (const key of this.points.keys()) {
      const [host = '', time = ''] = key.split(' ');
      const known = last.get(host);
      if (known === undefined || BigInt(time) > known) last.set(host, BigInt(time));
    }
    return this.sorted().filter((text) => {
      const [host = '', time = ''] = text.split(' ');
      return last.get(host) === BigInt(time);
    });
  }

  sorted(): string[] {
    return [...this.points].map(([key, { a, b }]) => `${key} ${a} ${b}`).sort();
  }
}

export async function readAll(
  store: TableStore,
  duckDb: DuckDbHost,
  lastRowsOnly = false,
): Promise<string[]> {
  const scan = await store.prepareScan(
    {
      table: SCHEMA,
      columns: ['host', 'time', 'a', 'b'],
      minTimeNs: MIN_TIME_NS,
      maxTimeNs: MAX_TIME_NS,
      tagConditions: [],
      lastRowsOnly,
    },
    MIN_TIME_NS,
  );
  try {
    const rows = await duckDb.rows(`SELECT host, epoch_ns("time"), a, b FROM ${scan.text}`);
    return rows.map(([h, t, a, b]) => `${h} ${t} ${a} ${b}`).sort();
  } finally {
    scan.release();
  }
}

/** Segment files and tables on a DuckDB host in its own folder, which is removed afterwards. */
export async function withStorage(
  work: (
    parts: SegmentFolder & { openStore(onError: (error: unknown) => void): TableStore },
  ) => Promise<void>,
): Promise<void> {
  await withSegmentFiles(async (folder) => {
    const { duckDb, files } = folder;
    const cache = new ColumnCache({ limitBytes: 2 ** 20, nowMs: () => Date.now() });
    await work({
      ...folder,
      openStore: (onError) =>
        new TableStore({
          schema: SCHEMA,
          duckDb,
          files,
          verifier: { check: (segment) => files.verify(segment), invalidate: () => false },
          cache,
          onDamaged: (_, e) => onError(e),
          onError,
        }),
    });
  });
}
