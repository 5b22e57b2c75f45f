import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { FieldCondition } from '@plinth/tsdb-model/query/column-query.js';
import { MAX_TIME_NS, MIN_TIME_NS, type TagCondition } from '@plinth/tsdb-model/scan.js';
import type { SeriesLookup } from '@plinth/tsdb-model/series/series-lookup.js';
import type { BatchRows } from './batch-rows.js';
import type { RowConditions } from './live-plan.js';

/** Checks whether the tags of a series meet the conditions. */
export class SeriesMatch {
  readonly #conditions: readonly {
    readonly tag: string;
    readonly isIn: boolean;
    readonly values: ReadonlySet<string | undefined>;
  }[];

  constructor(conditions: readonly TagCondition[]) {
    this.#conditions = conditions.map(({ tag, op, values }) => ({
      tag,
      isIn: op === 'in',
      values: new Set(values),
    }));
  }

  matches(series: SeriesLookup, ordinal: number): boolean {
    return this.#conditions.every(
      ({ tag, isIn, values }) => values.has(series.tagValue(ordinal, tag)) === isIn,
    );
  }
}

/** Checks whether a row of a matching series meets the other conditions. */
export class RowMatch {
  readonly #minTimeNs: bigint;
  readonly #maxTimeNs: bigint;
  readonly #isBounded: boolean;
  readonly #fields: readonly FieldCondition[];

  constructor({ minTimeNs, maxTimeNs, fieldConditions }: RowConditions) {
    this.#minTimeNs = minTimeNs;
    this.#maxTimeNs = maxTimeNs;
    this.#isBounded = minTimeNs > MIN_TIME_NS || maxTimeNs < MAX_TIME_NS;
    this.#fields = fieldConditions;
  }

  matches(rows: BatchRows, row: number): boolean {
    if (this.#isBounded) {
      const time = rows.batch.times[row] as bigint;
      if (time < this.#minTimeNs || time > this.#maxTimeNs) return false;
    }
    return this.#fields.every((condition) => meets(rows, row, condition));
  }
}

/** Checks a condition. NULL meets no condition. SQL orders NaN above all numbers. */
function meets(rows: BatchRows, row: number, { column, op, value }: FieldCondition): boolean {
  const order = compare(rows, row, column, value);
  switch (op) {
    case '=':
      return order === 0;
    case '<>':
      return order !== undefined && order !== 0;
    case '<':
      return order !== undefined && order < 0;
    case '<=':
      return order !== undefined && order <= 0;
    case '>':
      return order !== undefined && order > 0;
    case '>=':
      return order !== undefined && order >= 0;
  }
}

/** Compares exactly, also integers beyond 2^53. @param value a finite number. */
function compare(rows: BatchRows, row: number, column: Column, value: number): number | undefined {
  const cell = rows.cell(row, column);
  if (typeof cell === 'number' && Number.isNaN(cell)) return 1;
  if (typeof cell !== 'number' && typeof cell !== 'bigint') return undefined;
  return cell < value ? -1 : cell > value ? 1 : 0;
}
