import { ConfigInvalid, machineMemoryBytes } from '@plinth/kernel';
import { LEAST_MEMORY_BYTES, type TsdbSettings } from './config.js';

const MIB = 1024 * 1024;
const LEAST_DEFAULT_BYTES = 256 * MIB;
/** In processes with a lower memory limit, all parts together use the smallest valid budget. */
const SMALL_PROCESS_BYTES = 512 * MIB;
/**
 * A flush keeps several copies of its rows: in a long load, memory peaked at 1,150 MB with 192 MiB, and at 950 MB
 * with 128 MiB.
 */
const MOST_FLUSH_BYTES = 128 * MIB;
const MOST_BUFFER_BYTES = 1024 * MIB;

/** Memory of the server in addition to the parts below: the runtime, code, statements and requests in progress. */
const OTHER_BYTES = 600_000_000;

/** Bytes that each part of the service may use. */
export interface MemoryShares {
  readonly columnBytes: number;
  readonly duckDbBytes: number;
  /** Rows in memory are flushed when they reach this size. */
  readonly flushBytes: number;
  /** Writes are refused when rows in memory reach this size. */
  readonly bufferLimitBytes: number;
  /** Memory that the process may need in total. With less, the system may kill it. */
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
 * Divides `tsdb.memory_bytes` (ADR 0120). DuckDB keeps rows while it sorts them for segments. Beyond their own part,
 * these rows use DuckDB's part.
 * @throws {ConfigInvalid} when the configured parts do not fit.
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
  const duckDbBytes = settings.query_memory_bytes || Math.floor((allBytes * 3) / 8);
  const bufferLimitBytes =
    settings.buffer_limit_bytes ?? Math.min(MOST_BUFFER_BYTES, Math.floor(allBytes / 2));
  const flushBytes =
    settings.buffer_flush_bytes ??
    // DuckDB stores the rows and needs memory to sort them.
    Math.min(MOST_FLUSH_BYTES, Math.floor(allBytes / 8), Math.floor(duckDbBytes / 3));
  const problems: string[] = [];
  if (settings.memory_bytes !== undefined) {
    if (allBytes > processBytes)
      problems.push(
        `tsdb.memory_bytes: ${allBytes} exceeds the ${processBytes} bytes available to this process; use a smaller value`,
      );
    if (columnBytes + duckDbBytes > allBytes)
      problems.push(
        `tsdb.query_memory_bytes, tsdb.column_cache_bytes: ${columnBytes + duckDbBytes} bytes together exceed tsdb.memory_bytes (${allBytes}); use smaller values. A setting that is not given uses its share of tsdb.memory_bytes`,
      );
  }
  const { buffer_flush_bytes = 0, buffer_limit_bytes = buffer_flush_bytes } = settings;
  if (buffer_flush_bytes > buffer_limit_bytes)
    problems.push(
      `tsdb.buffer_flush_bytes: ${buffer_flush_bytes} is more than tsdb.buffer_limit_bytes (${buffer_limit_bytes}); use a smaller value, so that flushes start before writes are rejected`,
    );
  if (problems.length > 0) throw new ConfigInvalid(problems);
  // A small limit must not be reached before there are rows to flush.
  return {
    columnBytes,
    duckDbBytes,
    flushBytes: Math.min(flushBytes, bufferLimitBytes / 4),
    bufferLimitBytes,
    processNeedsBytes: allBytes + OTHER_BYTES,
  };
}
