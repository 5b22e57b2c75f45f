import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { OutputColumn } from '@plinth/tsdb-model/columns/result.js';
import { MemoryDrain } from '@plinth/tsdb-model/memory/memory-drain.js';
import { ChunkDecoder } from '../decode/decode-chunk.js';
import type { DuckDbSettings } from './duckdb-settings.js';
import { watchConnection } from './duckdb-watch.js';
import { lockDown } from './lock-down.js';

/**
 * Spill limit, as a multiple of the memory limit. DuckDB's default is most of the disk, which the
 * log shares.
 */
const SPILL_FACTOR = 8;

/**
 * The instance has no file, but DuckDB would still run a checkpoint in every commit after 16 MB. It
 * compacts all rows of all tables, which blocks the appending thread for hundreds of milliseconds.
 */
const NO_CHECKPOINT = '1TB';

export interface OpenInstance {
  readonly instance: DuckDBInstance;
  readonly writer: DuckDBConnection;
  /** Opens a connection for queries. */
  connect(): Promise<DuckDBConnection>;
  /** Creates a decoder for one statement, or for several with the same columns. */
  decoderOf(columns: readonly OutputColumn[]): ChunkDecoder;
}

/** Importing this module loads DuckDB's library. */
export async function openInstance(settings: DuckDbSettings): Promise<OpenInstance> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(settings.threads),
    memory_limit: mebibytes(settings.memoryLimitBytes),
    temp_directory: settings.spillDir,
    max_temp_directory_size: mebibytes(settings.memoryLimitBytes * SPILL_FACTOR),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    // Without these threads, memory released by a flush is kept until other DuckDB work checks for
    // it.
    allocator_background_threads: 'true',
    // With this setting, a bug in DuckDB makes only one statement fail. By default, all later
    // statements of all clients would fail until a restart. The log keeps all rows that are stored
    // only here, and flushed files are checked.
    disable_database_invalidation: 'true',
  });
  try {
    const writer = await instance.connect();
    await writer.run("SET TimeZone = 'UTC'").catch(() => undefined); // exists only if the time-zone extension is linked in
    await writer.run('SET GLOBAL preserve_insertion_order = true');
    await writer.run("SET GLOBAL explain_output = 'all'");
    // Allows ORDER BY with a string literal.
    await writer.run('SET GLOBAL order_by_non_integer_literal = true');
    await writer.run('SET GLOBAL parquet_metadata_cache = true');
    await writer.run(`SET GLOBAL checkpoint_threshold = '${NO_CHECKPOINT}'`);
    await settings.register(writer);
    await lockDown(writer, settings.dataDir);
    const { watch } = settings;
    if (watch !== undefined) watchConnection(writer, watch, 'duckdb.write');
    const drain = new MemoryDrain();
    return {
      instance,
      writer,
      async connect() {
        const connection = await instance.connect();
        return watch === undefined
          ? connection
          : watchConnection(connection, watch, 'duckdb.query');
      },
      decoderOf: (columns) => new ChunkDecoder(columns, drain),
    };
  } catch (error) {
    instance.closeSync();
    throw error;
  }
}

function mebibytes(sizeBytes: number): string {
  return `${Math.floor(sizeBytes / 1048576)}MiB`;
}
