import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteString } from '@plinth/tsdb-model/text/quote.js';

const MAX_SCHEMA_BYTES = 16 * 1024 * 1024;

/**
 * Returns the columns that the file's metadata marks as tags, as in files of InfluxDB 3. The marks
 * are in the field metadata of the Arrow schema that Arrow writers store next to the Parquet
 * schema.
 */
export async function tagsInFile(connection: DuckDBConnection, path: string): Promise<string[]> {
  const found = await connection.runAndReadAll(
    `SELECT decode(value) FROM parquet_kv_metadata(${quoteString(path)}) WHERE decode(key) = 'ARROW:schema'`,
  );
  const text: unknown = found.getRows()[0]?.[0];
  if (typeof text !== 'string' || text.length > MAX_SCHEMA_BYTES) return [];
  try {
    const { RecordBatchReader } = await import('apache-arrow');
    const { schema } = RecordBatchReader.from(Buffer.from(text, 'base64')).open();
    return schema.fields
      .filter(({ metadata }) => metadata.get('iox::column::type') === 'iox::column_type::tag')
      .map(({ name }) => name);
  } catch {
    return []; // An unreadable schema marks no tags.
  }
}
