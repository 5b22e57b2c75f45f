import { invariant } from '@plinth/kernel';
import { type BatchField, type RowBatch, takeRows } from '@plinth/tsdb-model/columns/row-batch.js';
import type { FieldValues } from '@plinth/tsdb-model/parsed-body.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { SeriesDefinition, StoredTable } from '@plinth/tsdb-storage/wal/write-record.js';
import type { SeriesIndex } from '../series/series-index.js';

/**
 * Maps the series ordinals in the log to the table's index. A definition may precede the first row,
 * which may never have been written, so a series enters the index with its row.
 */
export class LoggedSeries {
  readonly #index: SeriesIndex;
  readonly #meanings: (number | SeriesDefinition)[] = [];

  constructor(index: SeriesIndex) {
    this.#index = index;
  }

  define(definitions: readonly SeriesDefinition[]): void {
    for (const definition of definitions) this.#meanings[definition.ordinal] = definition;
  }

  isDefined(loggedOrdinal: number): boolean {
    return this.#meanings[loggedOrdinal] !== undefined;
  }

  ordinalOf(loggedOrdinal: number): number {
    const meaning = this.#meanings[loggedOrdinal];
    if (typeof meaning === 'number') return meaning;
    invariant(meaning !== undefined, 'a row has an undefined series');
    const number = this.#index.resolve(meaning.tagKeys, meaning.tagValues);
    this.#meanings[loggedOrdinal] = number;
    return number;
  }
}

/** Skips rows of series that no record of the log file defines, because that record is lost. */
export function toBatch(table: StoredTable, logged: LoggedSeries, schema: TableSchema): RowBatch {
  const byId = new Map([...schema.columns.values()].map((column) => [column.id, column]));
  const fields: BatchField[] = [];
  for (const field of table.fields) {
    const column = byId.get(field.columnId);
    if (column !== undefined && column.kind === (field.data satisfies FieldValues).type) {
      fields.push({ column, data: field.data, validity: field.validity });
    }
  }
  const { rowCount, seriesOrdinals, times } = table;
  const stored: RowBatch = { rowCount, seriesOrdinals, times, fields };
  const isComplete = seriesOrdinals.every((ordinal) => logged.isDefined(ordinal));
  const batch = isComplete ? stored : takeRows(stored, rowsWithTags(seriesOrdinals, logged));
  return {
    ...batch,
    seriesOrdinals: batch.seriesOrdinals.map((ordinal) => logged.ordinalOf(ordinal)),
  };
}

const rowsWithTags = (series: Uint32Array, logged: LoggedSeries): readonly number[] =>
  [...series.keys()].filter((row) => logged.isDefined(series[row] as number));
