import { ConfigInvalid, machineMemoryBytes } from '@plinth/kernel';
import { LEAST_MEMORY_BYTES, type TsdbSettings } from './config.js';

const MIB = 1024 * 1024;
const LEAST_DEFAULT_BYTES = 256 * MIB;
/** Below this process limit, the parts together get the smallest budget that can be set. */
const SMALL_PROCESS_BYTES = 512 * MIB;
const SMALL_DEFAULT_BYTES = 128 * MIB;
/**
 * A flush needs its rows in memory several times. The peak of a long load was 1,150 MB with 192
 * MiB, and 950 MB with 128 MiB.
 */
const MOST_FLUSH_BYTES = 128 * MIB;
const MOST_BUFFER_BYTES = 1024 * MIB;

/** Memory of the rest of the server: the runtime, code, statements and request bodies. */
const OTHER_BYTES = 600_000_000;

/** Memory limits of the parts of the service. */
export interface MemoryShares {
  readonly columnBytes: number;
  readonly engineBytes: number;
  /** Rows in memory are flushed at this size. */
  readonly flushBytes: number;
  /** Writes are rejected above this size. */
  readonly bufferLimitBytes: number;
  /** Total memory of the process; with less, the system may kill it. */
  readonly processNeedsBytes: number;
}

type MemorySettings = Pick<
  TsdbSettings,
  | 'memory_bytes'
  | 'column_cache_bytes'
  | 'query_memory_bytes'
  | 'buffer_flush_bytes'
  | 'buffer_limit_bytes'
>;

/**
 * Divides `tsdb.memory_bytes` (ADR 0120). During a flush, DuckDB has to sort the rows, so rows
 * beyond their own part count against DuckDB's.
 * @throws {ConfigInvalid} if the configured parts contradict each other.
 */
export function memoryShares(
  settings: MemorySettings,
  processBytes = machineMemoryBytes(),
): MemoryShares {
  const allBytes =
    settings.memory_bytes ??
    (processBytes < SMALL_PROCESS_BYTES
      ? LEAST_MEMORY_BYTES
      : Math.max(LEAST_DEFAULT_BYTES, Math.floor(processBytes / 4)));
  const columnBytes = settings.column_cache_bytes ?? Math.floor(allBytes / 2);
  const engineBytes = settings.query_memory_bytes || Math.floor((allBytes * 3) / 8);
  const bufferLimitBytes =
    settings.buffer_limit_bytes ?? Math.min(MOST_BUFFER_BYTES, Math.floor(allBytes / 2));
  const flushBytes =
    settings.buffer_flush_bytes ??
    // DuckDB stores the rows, and needs further memory to sort them.
    Math.min(MOST_FLUSH_BYTES, Math.floor(allBytes / 8), Math.floor(engineBytes / 3));
  const problems: string[] = [];
  if (settings.memory_bytes !== undefined) {
    if (allBytes > processBytes)
      problems.push(
        `tsdb.memory_bytes: ${allBytes} is more than the ${processBytes} bytes that this process may use`,
      );
    if (columnBytes + engineBytes > allBytes)
      problems.push(
        `tsdb.query_memory_bytes, tsdb.column_cache_bytes: ${columnBytes + engineBytes} bytes together are more than tsdb.memory_bytes (${allBytes}); one that is not given takes its part of it`,
      );
  }
  const { buffer_flush_bytes = 0, buffer_limit_bytes = buffer_flush_bytes } = settings;
  if (buffer_flush_bytes > buffer_limit_bytes)
    problems.push(
      `tsdb.buffer_flush_bytes: ${buffer_flush_bytes} is more than tsdb.buffer_limit_bytes (${buffer_limit_bytes}): writes would be refused before rows are written to segments`,
    );
  if (problems.length > 0) throw new ConfigInvalid(problems);
  // With a small limit, writes must not be rejected before a flush is due.
  return {
    columnBytes,
    engineBytes,
    flushBytes: Math.min(flushBytes, bufferLimitBytes / 4),
    bufferLimitBytes,
    processNeedsBytes: allBytes + OTHER_BYTES,
  };
}
