import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteString } from '@plinth/tsdb-model/text/quote.js';

/**
 * Restricts the instance to files below `dataDir`, disables extensions, and locks this
 * configuration.
 */
export async function lockDown(writer: DuckDBConnection, dataDir: string): Promise<void> {
  await writer.run(`SET allowed_directories = [${quoteString(dataDir)}]`);
  await writer.run('SET enable_external_access = false');
  await writer.run('SET lock_configuration = true');
}
