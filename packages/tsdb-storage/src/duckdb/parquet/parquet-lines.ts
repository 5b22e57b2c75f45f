import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { messageOf } from '@plinth/kernel';
import { quoteName, quoteString } from '@plinth/tsdb-model/text/quote.js';
import { endedNormally, throwFailure } from '../stream-end.js';
import { findPageFault } from './parquet-pages.js';
import { tagsInFile } from './parquet-tags.js';

/** The mapping from rows of a Parquet file to points. */
export interface ParquetMapping {
  readonly path: string;
  readonly table: string;
  /**
   * Tag columns; all others except `time` are fields. If empty, the tags are read from the file's
   * metadata.
   */
  readonly tags: readonly string[];
  readonly time: string;
  /** If true, omits values that line protocol cannot represent instead of refusing the file. */
  readonly isLossy?: boolean;
}

/**
 * The file cannot be read, lacks a column, or contains values that line protocol cannot represent.
 * The message states which.
 */
class ParquetUnreadable extends Error {
  override readonly name = 'ParquetUnreadable';
  readonly kind = 'parquet_unreadable';
}

/**
 * Converts the rows of a Parquet file to line protocol with nanosecond timestamps. Throws
 * `ParquetUnreadable`.
 */
export async function* parquetLines(mapping: ParquetMapping): AsyncGenerator<Uint8Array> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const from = `read_parquet(${quoteString(mapping.path)}, hive_partitioning = false)`;
    const described = await connection
      .runAndReadAll(`DESCRIBE SELECT * FROM ${from}`)
      .catch((error: unknown) => {
        throw new ParquetUnreadable(messageOf(error));
      });
    const columns = described
      .getRows()
      .map(([name, type]) => ({ name: String(name), type: String(type) }));
    const tags =
      mapping.tags.length > 0 ? mapping.tags : await tagsInFile(connection, mapping.path);
    const query = linesQuery(from, columns, { ...mapping, tags });
    await refuseDamage(connection, mapping, query);
    const result = await connection.stream(query.lines);
    let rowCount = 0;
    for (;;) {
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) break;
      rowCount += chunk.rowCount;
      yield Buffer.from(`${chunk.getColumnValues(0).join('\n')}\n`);
    }
    if (!endedNormally(result)) await throwFailure(connection, query.lines, rowCount);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

interface Column {
  readonly name: string;
  readonly type: string;
}

/** Statements that return the lines and count the values that they omit. */
interface LinesQuery {
  readonly timeType: string;
  readonly lines: string;
  readonly losses: string;
}

function linesQuery(from: string, columns: readonly Column[], mapping: ParquetMapping): LinesQuery {
  const missing = [...mapping.tags, mapping.time].find(
    (name) => !columns.some((column) => column.name === name),
  );
  if (missing !== undefined) {
    const names = columns.map(({ name }) => name).join(', ');
    throw new ParquetUnreadable(`column '${missing}' not found in the file; columns: ${names}`);
  }
  const tags = mapping.tags.map((name) => {
    // An empty tag value means an absent tag.
    const value = `nullif(CAST(${quoteName(name)} AS VARCHAR), '')`;
    return `coalesce(${quoteString(`,${escaped(name)}=`)} || ${escapedText(value, '[\\\\ ,=]')}, '')`;
  });
  const own = columns.filter(({ name }) => name !== mapping.time && !mapping.tags.includes(name));
  const fields = own.map(
    ({ name, type }) => `${quoteString(`${escaped(name)}=`)} || ${valueText(name, type)}`,
  );
  if (fields.length === 0)
    throw new ParquetUnreadable('no columns remain for fields; use fewer tags');
  const table = quoteString(mapping.table.replace(/[\\ ,]/g, '\\$&'));
  const timeType = columns.find(({ name }) => name === mapping.time)?.type ?? '';
  const time = `CAST(${timeNs(quoteName(mapping.time), timeType)} AS VARCHAR)`;
  const fieldSet = quoteName(unusedName(columns));
  const line = `${[table, ...tags].join(' || ')} || ' ' || ${fieldSet} || ' ' || ${time}`;
  const rows = `(SELECT *, concat_ws(',', ${fields.join(', ')}) AS ${fieldSet} FROM ${from})`;
  const isWhole = `${fieldSet} <> '' AND ${quoteName(mapping.time)} IS NOT NULL`;
  const nans = own
    .filter(({ type }) => isDouble(type))
    .map(({ name }) => `CAST(isnan(CAST(${quoteName(name)} AS DOUBLE)) AS INTEGER)`);
  const nanCount = nans.map((nan) => `coalesce(${nan}, 0)`).join(' + ') || '0';
  return {
    timeType,
    lines: `SELECT ${line} AS line FROM ${rows} WHERE ${isWhole}`,
    losses:
      `SELECT CAST(count(*) FILTER (WHERE NOT (${isWhole})) AS DOUBLE), CAST(coalesce(sum(${nanCount}), 0) AS DOUBLE), ` +
      `CAST(count(*) AS DOUBLE), count(${line}) FROM ${rows}`,
  };
}

/** Returns a name that is longer than all column names of the file, and therefore unused. */
function unusedName(columns: readonly Column[]): string {
  const longest = columns.reduce((length, { name }) => Math.max(length, name.length), 0);
  return '_'.repeat(longest + 1);
}

/** Compares the file's metadata with its readable rows, before any row is returned. */
async function refuseDamage(
  connection: DuckDBConnection,
  { path, isLossy, time }: ParquetMapping,
  { losses, timeType }: LinesQuery,
): Promise<void> {
  const fault = await findPageFault(connection, path);
  if (fault !== undefined) throw new ParquetUnreadable(`the file is corrupt: ${fault}`);
  const [counts] = (await connection.runAndReadAll(losses)).getRows();
  const [lostCount, nanCount, rowCount] = (counts ?? []).map(Number);
  const file = quoteString(path);
  const stated = await connection.runAndReadAll(
    `SELECT num_rows FROM parquet_file_metadata(${file})`,
  );
  const missing = Number(stated.getRows()[0]?.[0]) - (rowCount ?? 0);
  if (missing !== 0) throw new ParquetUnreadable(`the file is corrupt (missing rows: ${missing})`);
  await refuseOtherTimes(connection, { path, time }, timeType);
  if (isLossy || (!lostCount && !nanCount)) return;
  throw new ParquetUnreadable(
    `nothing was written, because line protocol does not support NaN values (${nanCount}) or rows without a field or time (${lostCount}); use --lossy to skip them`,
  );
}

/** Timestamps outside the range in the file's metadata indicate an overwritten page. */
async function refuseOtherTimes(
  connection: DuckDBConnection,
  { path, time }: Pick<ParquetMapping, 'path' | 'time'>,
  type: string,
): Promise<void> {
  const file = quoteString(path);
  const stated = (name: string) => timeNs(`TRY_CAST(${name} AS ${type})`, type);
  const found = await connection.runAndReadAll(
    `WITH stated AS (SELECT min(low) AS least, max(high) AS largest, bool_and(low IS NOT NULL AND high IS NOT NULL) AS is_known ` +
      `FROM (SELECT ${stated('stats_min_value')} AS low, ${stated('stats_max_value')} AS high FROM parquet_metadata(${file}) WHERE path_in_schema = ${quoteString(time)})) ` +
      `SELECT CAST(count(*) AS DOUBLE) FROM read_parquet(${file}, hive_partitioning = false), stated ` +
      `WHERE is_known AND ${timeNs(quoteName(time), type)} NOT BETWEEN least AND largest`,
  );
  const count = Number(found.getRows()[0]?.[0]);
  if (count > 0)
    throw new ParquetUnreadable(
      `the file is corrupt (rows with times outside the range in its metadata: ${count})`,
    );
}

/** Returns SQL for the nanoseconds of a value with the type of the time column. */
const timeNs = (value: string, type: string): string =>
  type.startsWith('TIMESTAMP') || type === 'DATE'
    ? `epoch_ns(${value})`
    : `CAST(${value} AS BIGINT)`;

/**
 * Returns SQL for a field value. NaN is omitted, because line protocol cannot represent it.
 * Infinity is written as an out-of-range number.
 */
function valueText(name: string, type: string): string {
  const column = quoteName(name);
  if (type === 'BOOLEAN') return `CAST(${column} AS VARCHAR)`;
  if (
    ['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'UTINYINT', 'USMALLINT', 'UINTEGER'].includes(type)
  ) {
    return `CAST(${column} AS VARCHAR) || 'i'`;
  }
  if (type === 'UBIGINT') return `CAST(${column} AS VARCHAR) || 'u'`;
  if (isDouble(type)) {
    const value = `CAST(${column} AS DOUBLE)`;
    return `CASE WHEN isfinite(${value}) THEN CAST(${value} AS VARCHAR) WHEN ${value} = 'infinity' THEN '1e999' WHEN ${value} = '-infinity' THEN '-1e999' END`;
  }
  return `'"' || ${escapedText(`CAST(${column} AS VARCHAR)`, '["\\\\]')} || '"'`;
}

const isDouble = (type: string): boolean =>
  type === 'FLOAT' || type === 'DOUBLE' || type === 'HUGEINT' || type.startsWith('DECIMAL');

/** Returns SQL that adds a backslash before each character of the class. */
function escapedText(text: string, characters: string): string {
  return `regexp_replace(${text}, ${quoteString(`(${characters})`)}, ${quoteString('\\\\\\1')}, 'g')`;
}

const escaped = (name: string): string => name.replace(/[\\ ,=]/g, '\\$&');
