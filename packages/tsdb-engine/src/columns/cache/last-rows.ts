import type { ColumnQuery } from '@plinth/tsdb-model/query/column-query.js';
import type { LoadedRows } from '../load/loaded-rows.js';
import { denseColumn } from '../rows/dense-rows.js';
import { type Part, type StoredColumn, timesOf } from './part.js';

/**
 * Minimum run length for copying: shorter runs are already close together in memory. The copies
 * take at most this fraction of the cached bytes.
 */
const LEAST_ROWS_PER_RUN = 8;

/** Copies of parts and columns. Both are immutable, and the copies are collected with them. */
const partsMade = new WeakMap<Part, Part>();
const columnsMade = new WeakMap<StoredColumn, StoredColumn>();

/**
 * Returns a copy with only the last row of each series of the part. Reading one row of each of
 * thousands of series from the part would miss the CPU cache at every value. Returns the part
 * itself if its runs are short, or if its last rows may be after the time range.
 */
export function lastRowsOf(
  loaded: LoadedRows,
  { maxTimeNs }: Pick<ColumnQuery, 'maxTimeNs'>,
): LoadedRows {
  const { part } = loaded;
  const isShort = part.rowCount < part.runSeries.length * LEAST_ROWS_PER_RUN;
  if (isShort || timesOf(part).max > maxTimeNs) return loaded;
  return {
    part: lastRowsPart(part),
    column: (id) => {
      const stored = loaded.column(id);
      return stored === undefined ? undefined : lastRowsColumn(stored, part);
    },
  };
}

function lastRowsPart(part: Part): Part {
  const known = partsMade.get(part);
  if (known !== undefined) return known;
  const { runSeries, runEnds } = part;
  const rowCount = runSeries.length;
  const starts = new Uint32Array(rowCount + 1);
  for (let run = 0; run < starts.length; run++) starts[run] = run;
  const made: Part = {
    ...part,
    rowCount,
    runStarts: starts.subarray(0, rowCount),
    runEnds: starts.subarray(1),
    offsets: runEnds.map((end) => part.offsets[end - 1] as number),
    order: undefined,
  };
  partsMade.set(part, made);
  return made;
}

function lastRowsColumn(stored: StoredColumn, { runEnds }: Part): StoredColumn {
  const known = columnsMade.get(stored);
  if (known !== undefined) return known;
  const made = denseColumn(
    stored,
    runEnds.map((end) => end - 1),
  );
  columnsMade.set(stored, made);
  return made;
}
