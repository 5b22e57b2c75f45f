import type { DuckDBConnection } from '@duckdb/node-api';
import type { EngineWatch } from './engine-watch.js';

export interface DuckDbSettings {
  /** The only folder the engine may read and write. */
  readonly dataDir: string;
  /** Where queries that exceed the memory limit spill; below `dataDir`. */
  readonly spillDir: string;
  readonly memoryLimitBytes: number;
  readonly threads: number;
  /** Connections kept open for queries; more are opened when needed and closed afterwards. */
  readonly idleConnections: number;
  /** Puts macros and functions into the instance; called with its first connection. */
  readonly register: (connection: DuckDBConnection) => Promise<void>;
  /** In tests: lets calls fail. */
  readonly watch?: EngineWatch | undefined;
}
