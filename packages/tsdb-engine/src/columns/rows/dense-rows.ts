import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { isStepEnd, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import { isSet, type Part, type StoredColumn } from '../cache/part.js';
import type { LoadedRows } from '../load/loaded-rows.js';
import type { PickedRows } from './row-chunks.js';

/** A slow reader keeps the copy in memory. */
const MAX_COPIED_BYTES = 32 * 1024 * 1024;

/** Returns whether rows with these columns are few enough to copy. */
export function areFewToCopy(
  rowCount: number,
  columns: readonly Column[],
  loaded: readonly LoadedRows[],
): boolean {
  const rowSizeBytes = columns.reduce(
    (sum, { id, kind }) => (kind === 'tag' || kind === 'time' ? sum : sum + widthOf(id, loaded)),
    Uint32Array.BYTES_PER_ELEMENT,
  );
  return rowCount * rowSizeBytes <= MAX_COPIED_BYTES;
}

function widthOf(id: number, loaded: readonly LoadedRows[]): number {
  return loaded.reduce(
    (widest, rows) => Math.max(widest, rows.column(id)?.values.BYTES_PER_ELEMENT ?? 0),
    0,
  );
}

/**
 * Copies the rows without gaps. Rows are picked by series but returned in time order. In a large
 * part, that access pattern misses the CPU cache at nearly every value.
 * @param picked each source's rows, approximately in the order of that source.
 */
export function* denseCopy(
  picked: PickedRows,
  loaded: readonly LoadedRows[],
): Steps<{ readonly picked: PickedRows; readonly loaded: readonly LoadedRows[] }> {
  const counts = new Uint32Array(loaded.length);
  for (const source of picked.sources) counts[source] = (counts[source] as number) + 1;
  const rowsOf = loaded.map((_, source) => new Uint32Array(counts[source] as number));
  counts.fill(0);
  const rows = new Uint32Array(picked.rows.length);
  for (let i = 0; i < rows.length; i++) {
    if (isStepEnd(i)) yield;
    const source = picked.sources[i] as number;
    const target = counts[source] as number;
    (rowsOf[source] as Uint32Array)[target] = picked.rows[i] as number;
    rows[i] = target;
    counts[source] = target + 1;
  }
  const copied: LoadedRows[] = [];
  for (const [source, each] of loaded.entries())
    copied.push(yield* denseRows(each, rowsOf[source] as Uint32Array));
  return { picked: { ...picked, rows }, loaded: copied };
}

function* denseRows({ part, column }: LoadedRows, rows: Uint32Array): Steps<LoadedRows> {
  const offsets = new Uint32Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    if (isStepEnd(i)) yield;
    offsets[i] = part.offsets[rows[i] as number] as number;
  }
  const columns = new Map<number, StoredColumn | undefined>();
  return {
    // The copied part has no runs; rows are addressed by number.
    part: { ...part, ...NO_RUNS, rowCount: rows.length, offsets, order: undefined },
    column(id) {
      if (!columns.has(id)) {
        const stored = column(id);
        columns.set(id, stored && denseColumn(stored, rows));
      }
      return columns.get(id);
    },
  };
}

const NO_RUNS: Pick<Part, 'runSeries' | 'runStarts' | 'runEnds'> = {
  runSeries: new Uint32Array(0),
  runStarts: new Uint32Array(0),
  runEnds: new Uint32Array(0),
};

/** Copies these rows of a column. */
export function denseColumn({ values, validity }: StoredColumn, rows: Uint32Array): StoredColumn {
  const taken = new (values.constructor as new (length: number) => typeof values)(rows.length);
  for (let i = 0; i < rows.length; i++) taken[i] = values[rows[i] as number] as number;
  if (validity === undefined) return { values: taken, validity };
  const bits = new Uint8Array((rows.length + 7) >> 3);
  for (let i = 0; i < rows.length; i++) {
    if (isSet(validity, rows[i] as number))
      bits[i >> 3] = (bits[i >> 3] as number) | (1 << (i & 7));
  }
  return { values: taken, validity: bits };
}
