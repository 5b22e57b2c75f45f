import type { TableBatch } from '@plinth/tsdb-engine/write/write-sequencer.js';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { type BatchField, isValid, type RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import type { SeriesLookup } from '@plinth/tsdb-model/series/series-lookup.js';

export type Cell = string | number | bigint | null;

/** The rows of a batch, read cell by cell. Valid only as long as the batch. */
export class BatchRows {
  readonly batch: RowBatch;
  readonly series: SeriesLookup;
  #fields: Map<number, BatchField> | undefined;

  constructor({ store, batch }: TableBatch) {
    this.batch = batch;
    this.series = store.series.index;
  }

  cell(row: number, { id, kind, name }: Column): Cell {
    if (kind === 'time') return this.batch.times[row] as bigint;
    if (kind === 'tag')
      return this.series.tagValue(this.batch.seriesOrdinals[row] as number, name) ?? null;
    this.#fields ??= new Map(this.batch.fields.map((field) => [field.column.id, field]));
    const field = this.#fields.get(id);
    if (field === undefined || !isValid(field.validity, row)) return null;
    const { data } = field;
    if (data.type !== 'utf8') return data.values[row] as number | bigint;
    const { buffer, byteOffset, byteLength } = data.bytes;
    const [from, to] = [data.offsets[row], data.offsets[row + 1]];
    return Buffer.from(buffer, byteOffset, byteLength).toString('utf8', from, to);
  }
}
