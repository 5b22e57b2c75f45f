import { type ResultChunk, validityOf } from '@plinth/tsdb-model/columns/result.js';
import type { ArrowField } from '../../arrow/arrow-field.js';
import type { ArrowStream } from '../send-stream.js';

/** Rows of metadata; `null` is NULL. */
export type Row = readonly unknown[];

/** Returns a stream of a few rows. */
export function streamOfRows(fields: readonly ArrowField[], rows: readonly Row[]): ArrowStream {
  async function* chunks(): AsyncGenerator<ResultChunk, void, undefined> {
    if (rows.length > 0) yield chunkOf(fields, rows);
  }
  return { fields, metadata: [], chunks: chunks() };
}

function chunkOf(fields: readonly ArrowField[], rows: readonly Row[]): ResultChunk {
  return {
    rowCount: rows.length,
    columns: fields.map((_, index) => {
      const values = rows.map((row) => row[index] ?? null);
      return { values, validity: validityOf(values, rows.length) };
    }),
  };
}
