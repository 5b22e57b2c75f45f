import { env } from 'node:process';

/** The runtime reads this variable when it first needs a thread; later changes are ignored. */
const SIZE_VARIABLE = 'UV_THREADPOOL_SIZE';
/** The runtime's default size. */
const DEFAULT_SIZE = 4;
const MAX_SIZE = 1024;

/** Returns the number of threads for blocking calls: files, host names and DuckDB. */
export function threadPoolSize(): number {
  const size = Number.parseInt(env[SIZE_VARIABLE] ?? '', 10);
  return Number.isNaN(size) ? DEFAULT_SIZE : Math.min(Math.max(1, size), MAX_SIZE);
}
