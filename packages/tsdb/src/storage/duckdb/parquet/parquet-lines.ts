import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { messageOf } from '@plinth/kernel';
import { quoteName, quoteString } from '../quote.js';
import { isWhole, throwFailure } from '../stream-end.js';
import { findPageFault } from './parquet-pages.js';
import { tagsInFile } from './parquet-tags.js';

/** How the rows of a Parquet file become points. */
export interface ParquetMapping {
  readonly path: string;
  readonly table: string;
  /** Columns that are tags; all others but `time` are fields. None: those that the file itself calls tags. */
  readonly tags: readonly string[];
  readonly time: string;
  /** Leaves out what line protocol cannot hold, instead of refusing the file. */
  readonly isLossy?: boolean;
}

/** The file cannot be read, lacks a column, or holds what line protocol cannot; the message says what. */
class ParquetUnreadable extends Error {
  override readonly name = 'ParquetUnreadable';
  readonly kind = 'parquet_unreadable';
}

/** The rows of a Parquet file as line protocol with times in nanoseconds. Throws `ParquetUnreadable`. */
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
    if (!isWhole(result)) await throwFailure(connection, query.lines, rowCount);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

interface Column {
  readonly name: string;
  readonly type: string;
}

/** Statements that give the lines, and count what they do not hold. */
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
    throw new ParquetUnreadable(`the file has no column ${missing}; it has ${names}`);
  }
  const tags = mapping.tags.map((name) => {
    // An empty tag is one that is not there.
    const value = `nullif(CAST(${quoteName(name)} AS VARCHAR), '')`;
    return `coalesce(${quoteString(`,${escaped(name)}=`)} || ${escapedText(value, '[\\\\ ,=]')}, '')`;
  });
  const own = columns.filter(({ name }) => name !== mapping.time && !mapping.tags.includes(name));
  const fields = own.map(
    ({ name, type }) => `${quoteString(`${escaped(name)}=`)} || ${valueText(name, type)}`,
  );
  if (fields.length === 0) throw new ParquetUnreadable('no column is left for fields');
  const table = quoteString(mapping.table.replace(/[\\ ,]/g, '\\$&'));
  const timeType = columns.find(({ name }) => name === mapping.time)?.type ?? '';
  const time = `CAST(${timeNs(quoteName(mapping.time), timeType)} AS VARCHAR)`;
  const line = `${[table, ...tags].join(' || ')} || ' ' || _fields || ' ' || ${time}`;
  const rows = `(SELECT *, concat_ws(',', ${fields.join(', ')}) AS _fields FROM ${from})`;
  const isWhole = `_fields <> '' AND ${quoteName(mapping.time)} IS NOT NULL`;
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

/** What the file itself says of all its rows must be true of those that can be read; nothing was handed out before. */
async function refuseDamage(
  connection: DuckDBConnection,
  { path, isLossy, time }: ParquetMapping,
  { losses, timeType }: LinesQuery,
): Promise<void> {
  const fault = await findPageFault(connection, path);
  if (fault !== undefined) throw new ParquetUnreadable(`the file is damaged: ${fault}`);
  const [counts] = (await connection.runAndReadAll(losses)).getRows();
  const [lostCount, nanCount, rowCount] = (counts ?? []).map(Number);
  const file = quoteString(path);
  const said = await connection.runAndReadAll(
    `SELECT num_rows FROM parquet_file_metadata(${file})`,
  );
  const missing = Number(said.getRows()[0]?.[0]) - (rowCount ?? 0);
  if (missing !== 0)
    throw new ParquetUnreadable(`the file is damaged: ${missing} of its rows are missing`);
  await refuseOtherTimes(connection, { path, time }, timeType);
  if (isLossy || (!lostCount && !nanCount)) return;
  throw new ParquetUnreadable(
    `line protocol cannot hold ${lostCount} rows without a field or a time, and ${nanCount} values that are NaN; nothing was written, and --lossy leaves them out`,
  );
}

/** Rows of a page that was overwritten have times that are not between the least and the largest that the file names. */
async function refuseOtherTimes(
  connection: DuckDBConnection,
  { path, time }: Pick<ParquetMapping, 'path' | 'time'>,
  type: string,
): Promise<void> {
  const file = quoteString(path);
  const said = (name: string) => timeNs(`TRY_CAST(${name} AS ${type})`, type);
  const found = await connection.runAndReadAll(
    `WITH said AS (SELECT min(low) AS least, max(high) AS largest, bool_and(low IS NOT NULL AND high IS NOT NULL) AS is_known ` +
      `FROM (SELECT ${said('stats_min_value')} AS low, ${said('stats_max_value')} AS high FROM parquet_metadata(${file}) WHERE path_in_schema = ${quoteString(time)})) ` +
      `SELECT CAST(count(*) AS DOUBLE) FROM read_parquet(${file}, hive_partitioning = false), said ` +
      `WHERE is_known AND ${timeNs(quoteName(time), type)} NOT BETWEEN least AND largest`,
  );
  const count = Number(found.getRows()[0]?.[0]);
  if (count > 0)
    throw new ParquetUnreadable(
      `the file is damaged: ${count} rows have times that are not between those that it names`,
    );
}

/** SQL of nanoseconds, of a value that has the type of the column with the time. */
const timeNs = (value: string, type: string): string =>
  type.startsWith('TIMESTAMP') || type === 'DATE'
    ? `epoch_ns(${value})`
    : `CAST(${value} AS BIGINT)`;

/** NaN is left out: line protocol cannot say it. An infinity is a number that is too large. */
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

/** SQL that puts a backslash before each character of the class. */
function escapedText(text: string, characters: string): string {
  return `regexp_replace(${text}, ${quoteString(`(${characters})`)}, ${quoteString('\\\\\\1')}, 'g')`;
}

const escaped = (name: string): string => name.replace(/[\\ ,=]/g, '\\$&');
