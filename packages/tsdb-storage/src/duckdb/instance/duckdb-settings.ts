import type { DuckDBConnection } from '@duckdb/node-api';
import type { DuckDbWatch } from './duckdb-watch.js';

export interface DuckDbSettings {
  /** The only folder that DuckDB may read and write. */
  readonly dataDir: string;
  /** Folder for spilled data of queries that exceed the memory limit; below `dataDir`. */
  readonly spillDir: string;
  readonly memoryLimitBytes: number;
  readonly threads: number;
  /** Connections kept open for queries. More are opened on demand and closed after use. */
  readonly idleConnections: number;
  /** Registers macros and functions; called with the first connection. */
  readonly register: (connection: DuckDBConnection) => Promise<void>;
  /** Injects faults in tests. */
  readonly watch?: DuckDbWatch | undefined;
}
