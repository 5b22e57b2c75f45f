import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteString } from '../quote.js';

/** From here on the whole instance reaches the files below `dataDir` and no others, loads no extension, and cannot be told to. */
export async function lockDown(writer: DuckDBConnection, dataDir: string): Promise<void> {
  await writer.run(`SET allowed_directories = [${quoteString(dataDir)}]`);
  await writer.run('SET enable_external_access = false');
  await writer.run('SET lock_configuration = true');
}
