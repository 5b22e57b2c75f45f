import { DuckDBInstance } from '@duckdb/node-api';
import { quoteName, quoteString } from './quote.js';

/** How the rows of a Parquet file become points. */
export interface ParquetMapping {
  readonly path: string;
  readonly table: string;
  /** Columns that are tags; all others but `time` are fields. */
  readonly tags: readonly string[];
  readonly time: string;
}

/** The file cannot be read, or lacks a column; the message says what. */
class ParquetUnreadable extends Error {
  override readonly name = 'ParquetUnreadable';
  readonly kind = 'parquet_unreadable';
}

/** The rows of a Parquet file as line protocol with times in nanoseconds; a row without any field is left out. */
export async function* parquetLines(mapping: ParquetMapping): AsyncGenerator<Uint8Array> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const from = `read_parquet(${quoteString(mapping.path)}, hive_partitioning = false)`;
    const described = await connection
      .runAndReadAll(`DESCRIBE SELECT * FROM ${from}`)
      .catch((error: unknown) => {
        throw new ParquetUnreadable(error instanceof Error ? error.message : String(error));
      });
    const columns = described
      .getRows()
      .map(([name, type]) => ({ name: String(name), type: String(type) }));
    const result = await connection.stream(linesQuery(from, columns, mapping));
    for (;;) {
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) break;
      yield Buffer.from(`${chunk.getColumnValues(0).join('\n')}\n`);
    }
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

interface Column {
  readonly name: string;
  readonly type: string;
}

function linesQuery(from: string, columns: readonly Column[], mapping: ParquetMapping): string {
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
  const fields = columns
    .filter(({ name }) => name !== mapping.time && !mapping.tags.includes(name))
    .map(({ name, type }) => `${quoteString(`${escaped(name)}=`)} || ${valueText(name, type)}`);
  if (fields.length === 0) throw new ParquetUnreadable('no column is left for fields');
  const table = quoteString(mapping.table.replace(/[\\ ,]/g, '\\$&'));
  const time = timeText(mapping.time, columns);
  const line = `${[table, ...tags].join(' || ')} || ' ' || _fields || ' ' || ${time}`;
  return `SELECT ${line} AS line FROM (SELECT *, concat_ws(',', ${fields.join(', ')}) AS _fields FROM ${from}) WHERE _fields <> '' AND ${quoteName(mapping.time)} IS NOT NULL`;
}

function timeText(name: string, columns: readonly Column[]): string {
  const type = columns.find((column) => column.name === name)?.type ?? '';
  const column = quoteName(name);
  return type.startsWith('TIMESTAMP') || type === 'DATE'
    ? `CAST(epoch_ns(${column}) AS VARCHAR)`
    : `CAST(CAST(${column} AS BIGINT) AS VARCHAR)`;
}

/** Numbers that line protocol cannot say (NaN, infinity) are left out. */
function valueText(name: string, type: string): string {
  const column = quoteName(name);
  if (type === 'BOOLEAN') return `CAST(${column} AS VARCHAR)`;
  if (
    ['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'UTINYINT', 'USMALLINT', 'UINTEGER'].includes(type)
  ) {
    return `CAST(${column} AS VARCHAR) || 'i'`;
  }
  if (type === 'UBIGINT') return `CAST(${column} AS VARCHAR) || 'u'`;
  if (type === 'FLOAT' || type === 'DOUBLE' || type === 'HUGEINT' || type.startsWith('DECIMAL')) {
    const value = `CAST(${column} AS DOUBLE)`;
    return `CASE WHEN isfinite(${value}) THEN CAST(${value} AS VARCHAR) END`;
  }
  return `'"' || ${escapedText(`CAST(${column} AS VARCHAR)`, '["\\\\]')} || '"'`;
}

/** SQL that puts a backslash before each character of the class. */
function escapedText(text: string, characters: string): string {
  return `regexp_replace(${text}, ${quoteString(`(${characters})`)}, ${quoteString('\\\\\\1')}, 'g')`;
}

const escaped = (name: string): string => name.replace(/[\\ ,=]/g, '\\$&');
