import { env } from 'node:process';

/** The variable that the runtime reads when something first asks for a thread; later changes have no effect. */
const SIZE_VARIABLE = 'UV_THREADPOOL_SIZE';
/** The runtime's own size. */
const DEFAULT_SIZE = 4;
const MAX_SIZE = 1024;

/** Threads for calls that cannot be made otherwise: files, names of hosts, and the query engine. */
export function threadPoolSize(): number {
  const size = Number.parseInt(env[SIZE_VARIABLE] ?? '', 10);
  return Number.isNaN(size) ? DEFAULT_SIZE : Math.min(Math.max(1, size), MAX_SIZE);
}
