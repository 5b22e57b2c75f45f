import { type Column, storedTagNameOf } from '@plinth/tsdb-model/columns/column.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { quoteName, quoteString } from '@plinth/tsdb-model/text/quote.js';
import { DUCKDB_TYPE } from '@plinth/tsdb-storage/duckdb/duckdb-type.js';
import { latestValues, orderColumns, samePointCondition } from './latest-values.js';
import { type Source, timeCondition, valueText } from './sources.js';

export interface ScanTextOptions {
  readonly schema: TableSchema;
  /** Requested columns, by user-visible name. */
  readonly columns: readonly string[];
  readonly sources: readonly Source[];
  readonly minTime: bigint;
  readonly maxTime: bigint;
  /**
   * True if other slices read the rows outside the bounds, including rows added to a source since it
   * was prepared.
   */
  readonly isSlice: boolean;
  /** Condition on `_series`; `undefined` for all series. */
  readonly seriesCondition: string | undefined;
  /** Tags of the only series that can match, by their keys: they need no join. */
  readonly onlySeries: ReadonlyMap<string, string> | undefined;
  readonly seriesTable: { readonly name: string; columnOf(tag: string): string | undefined };
  /** Tags that may be returned as series ids: the first contains the ids, the others zeros. */
  readonly lateMaterializedTags: readonly string[];
  /**
   * DuckDB table of the points that were written more than once; `undefined` if there are none in
   * the time range.
   */
  readonly repeatedKeys: string | undefined;
  readonly lastRowsOnly: boolean;
  readonly withSeries: boolean;
}

/**
 * SQL text that replaces a base table in FROM: every point once, with the columns' DuckDB names.
 */
export function scanText(options: ScanTextOptions): string {
  const columns = options.columns
    .map((name) => options.schema.columns.get(name))
    .filter((c) => c !== undefined);
  const tags = columns.filter((column) => column.kind === 'tag');
  const fields = columns.filter((column) => column.kind !== 'tag' && column.kind !== 'time');
  const hasTime = columns.some((column) => column.kind === 'time');
  const isLateMaterialized = (tag: Column): boolean =>
    options.lateMaterializedTags.includes(tag.name);
  const seriesTags = options.onlySeries === undefined ? tags : [];
  const joinedTags = seriesTags.filter(
    (tag) => !isLateMaterialized(tag) && options.seriesTable.columnOf(tag.name) !== undefined,
  );
  const rows = options.lastRowsOnly
    ? lastRowsText(options, fields)
    : rowsText(options, fields, {
        withSeries:
          options.withSeries || joinedTags.length > 0 || seriesTags.some(isLateMaterialized),
        withTime: hasTime,
      });
  const timeColumn = hasTime ? ['r."time"'] : [];
  const output = [
    ...(options.withSeries ? ['r._series'] : []),
    ...timeColumn,
    ...fields.map((field) => `r.${quoteName(field.physicalName)}`),
    ...tags.map((tag) => tagText(tag, options)),
  ];
  // A scan without columns (count(*)) still needs one to be valid SQL.
  const list = output.length === 0 ? '1 AS _series_row' : output.join(', ');
  const join =
    joinedTags.length === 0
      ? ''
      : ` JOIN ${quoteName(options.seriesTable.name)} s ON s._series = r._series`;
  return `(SELECT ${list} FROM ${rows} r${join})`;
}

/**
 * Returns the query for the groups of a scan's rows by these columns of the series table: see
 * `SliceableScan`.
 */
export function groupsText(options: ScanTextOptions, columns: readonly string[]): string {
  const rows = rowsText(options, [], { withSeries: true, withTime: false });
  const counted = `SELECT _series, count(*) AS n FROM ${rows} GROUP BY _series`;
  const keys = columns.map(keyText).join(', ');
  return (
    `SELECT min(s._series) AS _series, sum(c.n)::BIGINT AS n FROM (${counted}) c ` +
    `JOIN ${quoteName(options.seriesTable.name)} s ON s._series = c._series GROUP BY ${keys} ORDER BY ${keys}`
  );
}

/**
 * Returns the condition on `_series` that selects the series between two keys (both inclusive) of
 * these columns of the series table.
 */
export function seriesBetween(
  seriesTable: string,
  range: {
    readonly columns: readonly string[];
    readonly first: readonly string[];
    readonly last: readonly string[];
  },
): string {
  const keys = range.columns.map(keyText);
  const condition = `${fromOn(keys, range.first, '>')} AND ${fromOn(keys, range.last, '<')}`;
  return `_series IN (SELECT s._series FROM ${quoteName(seriesTable)} s WHERE ${condition})`;
}

/**
 * Returns the condition that the keys, in order, equal these values or are on one side of them.
 * DuckDB fails on comparisons of row values here.
 */
function fromOn(keys: readonly string[], values: readonly string[], side: '<' | '>'): string {
  const [key = '', ...otherKeys] = keys;
  const [value = '', ...otherValues] = values;
  const text = quoteString(value);
  if (otherKeys.length === 0) return `${key} ${side}= ${text}`;
  return `(${key} ${side} ${text} OR (${key} = ${text} AND ${fromOn(otherKeys, otherValues, side)}))`;
}

const keyText = (column: string): string => `coalesce(s.${quoteName(column)}, '')`;

/**
 * Finding the newest timestamp of each series reads two columns of all rows; the other columns are
 * read for few rows.
 */
function lastRowsText(options: ScanTextOptions, fields: readonly Column[]): string {
  const both = { withSeries: true, withTime: true };
  const last = `SELECT _series, max("time") AS "time" FROM ${rowsText(options, [], both)} GROUP BY _series`;
  return `(SELECT a.* FROM ${rowsText(options, fields, both)} a JOIN (${last}) l ON ${samePointCondition('a', 'l')})`;
}

function tagText(tag: Column, options: ScanTextOptions): string {
  const name = quoteName(tag.physicalName);
  if (options.onlySeries !== undefined) {
    const value = options.onlySeries.get(storedTagNameOf(tag));
    return `${value === undefined ? 'NULL' : quoteString(value)}::VARCHAR AS ${name}`;
  }
  const tagIndex = options.lateMaterializedTags.indexOf(tag.name);
  if (tagIndex !== -1) return `${tagIndex === 0 ? 'r._series' : '0::UTINYINT'} AS ${name}`;
  const physicalName = options.seriesTable.columnOf(tag.name);
  return physicalName === undefined
    ? `NULL::VARCHAR AS ${name}`
    : `s.${quoteName(physicalName)} AS ${name}`;
}

interface RowColumns {
  readonly withSeries: boolean;
  readonly withTime: boolean;
}

function rowsText(options: ScanTextOptions, fields: readonly Column[], extra: RowColumns): string {
  if (options.sources.length === 0) {
    const empty = [
      ...(extra.withSeries ? ['NULL::BIGINT AS _series'] : []),
      ...(extra.withTime ? ['NULL::TIMESTAMP_NS AS "time"'] : []),
      ...fields.map((field) => nullText(field)),
      ...(extra.withSeries || extra.withTime || fields.length > 0 ? [] : ['1 AS _series_row']),
    ];
    return `(SELECT ${empty.join(', ')} WHERE false)`;
  }
  if (options.repeatedKeys === undefined) {
    const sourceTexts = options.sources.map((source) =>
      sourceText(source, options, fields, extra, false),
    );
    return sourceTexts.length === 1
      ? (sourceTexts[0] as string)
      : `(${sourceTexts.join(' UNION ALL ')})`;
  }
  return mergedText(options, fields, options.repeatedKeys);
}

function nullText(field: Column): string {
  return `NULL::${DUCKDB_TYPE[field.kind]} AS ${quoteName(field.physicalName)}`;
}

function sourceText(
  source: Source,
  options: ScanTextOptions,
  fields: readonly Column[],
  extra: RowColumns,
  withOrder: boolean,
): string {
  const list = [
    ...(extra.withSeries ? ['_series'] : []),
    ...(extra.withTime ? ['"time"'] : []),
    ...fields.map((field) =>
      source.hasColumn(field.id) ? valueText(field, source.deletedValues) : nullText(field),
    ),
    ...(withOrder ? orderColumns(source) : []),
  ];
  const conditions = [
    ...(!options.isSlice && options.minTime <= source.minTime && options.maxTime >= source.maxTime
      ? []
      : [timeCondition(options.minTime, options.maxTime)]),
    ...(options.seriesCondition === undefined ? [] : [options.seriesCondition]),
    ...(source.where === undefined ? [] : [source.where]),
  ];
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return `(SELECT ${list.length === 0 ? '1 AS _series_row' : list.join(', ')} FROM ${source.from}${where})`;
}

/** Points written once pass through; for the others, each field takes its latest value. */
function mergedText(
  options: ScanTextOptions,
  fields: readonly Column[],
  repeatedKeys: string,
): string {
  const all = { withSeries: true, withTime: true };
  const sourceTexts = options.sources.map((source) =>
    sourceText(source, options, fields, all, true),
  );
  const names = fields.map((field) => quoteName(field.physicalName));
  const key = '_series, "time"';
  const match = samePointCondition('a', 'd');
  const once = `SELECT ${[key, ...names].join(', ')} FROM a ANTI JOIN ${quoteName(repeatedKeys)} d ON ${match}`;
  const merged = `SELECT ${[key, ...latestValues(names)].join(', ')} FROM a SEMI JOIN ${quoteName(repeatedKeys)} d ON ${match} GROUP BY _series, "time"`;
  return `(WITH a AS NOT MATERIALIZED (${sourceTexts.join(' UNION ALL ')}) ${once} UNION ALL ${merged})`;
}
