import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { OutputColumn } from '@plinth/tsdb-model/columns/result.js';
import type { ColumnQuery } from '@plinth/tsdb-model/query/column-query.js';
import type { ScanRequest } from '@plinth/tsdb-model/scan.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { quoteName } from '@plinth/tsdb-model/text/quote.js';
import { runThrough } from '@plinth/tsdb-model/time-sliced-task.js';
import type { ColumnRef } from '../../plan/compile/compiled-select.js';
import type { TableSource } from '../../plan/compile/source.js';
import { type Filter, filterColumns } from '../../plan/condition/filter.js';
import { type DataType, isConvertible, typeOfKind } from '../../plan/data-type.js';
import { filterText } from '../filter-text.js';
import type { Session } from '../session.js';
import { columnQueryConditions, tagConditions } from '../tag-conditions.js';

export interface TableRange {
  readonly source: TableSource;
  readonly filter: Filter | undefined;
  readonly minNs: bigint;
  readonly maxNs: bigint;
  readonly groupTags: readonly string[];
}

/** Builds SQL fragments for one table, which is named `r` in FROM, and the scan that they need. */
export class TableReader {
  readonly #range: TableRange;
  readonly #session: Session;
  readonly #columns = new Set<string>();
  #conditions: ScanRequest['tagConditions'] | undefined;

  constructor(range: TableRange, session: Session) {
    this.#range = range;
    this.#session = session;
  }

  /** Tag conditions for the scan. Column queries do not use them. */
  get conditions(): ScanRequest['tagConditions'] {
    const { filter, source } = this.#range;
    this.#conditions ??= tagConditions(filter, this.#session.seriesOf(source.table));
    return this.#conditions;
  }

  get time(): string {
    this.#columns.add('time');
    return 'r."time"';
  }

  /** Returns the raw column, or NULL if the table has no such column. */
  name(name: string): string {
    const column = this.#range.source.table.columns.get(name);
    if (column === undefined) return 'NULL';
    this.#columns.add(name);
    return `r.${quoteName(column.physicalName)}`;
  }

  /** Returns a column in the type in which the statement reads it. */
  column(ref: ColumnRef): string {
    const column = this.#range.source.table.columns.get(ref.name);
    const actual = column === undefined ? 'unknown' : typeOfKind(column.kind);
    if (ref.type === 'unknown' || (actual === 'tag') !== ref.isTag || actual === 'unknown') {
      return `NULL::${DUCKDB_TYPES[ref.type]}`;
    }
    if (actual === ref.type) return this.name(ref.name);
    if (!isConvertible(actual, ref.type)) return `NULL::${DUCKDB_TYPES[ref.type]}`;
    const text = this.name(ref.name);
    if (ref.type === 'float') return `${text}::DOUBLE`;
    return actual === 'float'
      ? `TRY_CAST(trunc(${text}) AS ${DUCKDB_TYPES[ref.type]})`
      : `TRY_CAST(${text} AS ${DUCKDB_TYPES[ref.type]})`;
  }

  /** Values of the grouping tags; an absent tag is an empty string. */
  get groups(): string[] {
    return this.#range.groupTags.map((tag) => {
      const column = this.#range.source.table.columns.get(tag);
      return column?.kind === 'tag' ? `coalesce(${this.name(tag)}, '')` : `''`;
    });
  }

  /** Upper bound of the number of groups. */
  get mostGroups(): number {
    const index = this.#session.seriesOf(this.#range.source.table);
    const valueCounts = this.#range.groupTags.map((tag) => index.valueCount(tag) + 1);
    return Math.max(
      1,
      Math.min(
        index.count,
        valueCounts.reduce((a, b) => a * b, 1),
      ),
    );
  }

  get tieBreakers(): string[] {
    return this.tieBreakerTags.map((tag) => `coalesce(${this.name(tag)}, '')`);
  }

  /**
   * Tags other than the grouping tags, in the order that breaks ties between rows with the same
   * time.
   */
  get tieBreakerTags(): string[] {
    if (this.selectedSeries(1) !== undefined) return [];
    const index = this.#session.seriesOf(this.#range.source.table);
    const grouped = new Set(this.#range.groupTags);
    return [...index.tagNames].filter((tag) => !grouped.has(tag)).sort();
  }

  /** Ordinals of the series that can match; `undefined` if there are more than `limit`. */
  selectedSeries(limit: number): readonly number[] | undefined {
    const index = this.#session.seriesOf(this.#range.source.table);
    return runThrough(index.select(this.conditions, limit));
  }

  /** True if every series is its own group, so that no two rows of a group have the same time. */
  get isGroupedBySeries(): boolean {
    return this.tieBreakerTags.length === 0;
  }

  /** Returns a column query, or `undefined` if the condition is not supported there. */
  columnQuery(computation: ColumnQuery['computation'] | undefined): ColumnQuery | undefined {
    if (computation === undefined) return undefined;
    const { source, minNs, maxNs, filter } = this.#range;
    const index = this.#session.seriesOf(source.table);
    const conditions = columnQueryConditions(filter, source.table, index);
    if (conditions === undefined) return undefined;
    return { table: source.table, minTimeNs: minNs, maxTimeNs: maxNs, ...conditions, computation };
  }

  /** Returns the column if the statement reads it in its own type. */
  plainColumn(ref: ColumnRef): Column | undefined {
    const column = this.#range.source.table.columns.get(ref.name);
    return column !== undefined && typeOfKind(column.kind) === ref.type ? column : undefined;
  }

  where(extra: readonly string[] = []): string {
    const { filter } = this.#range;
    // The scan applies the time range.
    const parts = [
      ...(filter === undefined
        ? []
        : [
            filterText(filter, (ref) =>
              ref.type === 'time' ? this.time : this.#filterColumn(ref),
            ),
          ]),
      ...extra,
    ];
    return parts.length === 0 ? '' : ` WHERE ${parts.join(' AND ')}`;
  }

  #filterColumn(ref: ColumnRef): string {
    return ref.isTag ? this.name(ref.name) : this.column(ref);
  }

  scan(lastRowsOnly = false): ScanRequest {
    const { source, filter, minNs, maxNs } = this.#range;
    if (filter !== undefined) {
      for (const ref of filterColumns(filter)) this.#columns.add(ref.name);
      if (usesTime(filter)) this.#columns.add('time');
    }
    return {
      table: source.table,
      columns: [...this.#columns],
      minTimeNs: minNs,
      maxTimeNs: maxNs,
      tagConditions: this.conditions,
      lastRowsOnly,
    };
  }
}

function usesTime(filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return usesTime(filter.left) || usesTime(filter.right);
    case 'compare':
      return [filter.left, filter.right].some(hasDatePart);
    default:
      return false;
  }
}

function hasDatePart(operand: Extract<Filter, { kind: 'compare' }>['left']): boolean {
  switch (operand.kind) {
    case 'date_part':
      return true;
    case 'binary':
      return hasDatePart(operand.left) || hasDatePart(operand.right);
    case 'scalar':
      return operand.args.some(hasDatePart);
    default:
      return false;
  }
}

const DUCKDB_TYPES: Readonly<Record<DataType, string>> = {
  float: 'DOUBLE',
  integer: 'BIGINT',
  unsigned: 'UBIGINT',
  string: 'VARCHAR',
  boolean: 'BOOLEAN',
  tag: 'VARCHAR',
  time: 'TIMESTAMP_NS',
  unknown: 'INTEGER',
};

/** Returns the DuckDB type of a data type. */
export function sqlTypeOf(type: DataType): SqlType {
  switch (type) {
    case 'float':
      return { kind: 'float', bits: 64 };
    case 'integer':
    case 'unsigned':
      return { kind: 'int', bits: 64, signed: type === 'integer' };
    case 'boolean':
      return { kind: 'boolean' };
    case 'time':
      return { kind: 'timestamp', unit: 'ns', zone: undefined };
    case 'tag':
      return { kind: 'tag' };
    case 'unknown':
      return { kind: 'null' };
    default:
      return { kind: 'utf8' };
  }
}

export function outputColumn(name: string, type: DataType): OutputColumn {
  return { name, type: sqlTypeOf(type), tableColumnKind: undefined };
}
