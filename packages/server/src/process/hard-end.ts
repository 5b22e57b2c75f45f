import { Worker } from 'node:worker_threads';
import { createLogger } from '@plinth/kernel';
import type { ServerSettings } from '../settings.js';

/** Minimum and maximum time reserved for closing services and stores. */
const LEAST_CLOSE_MS = 3000;
const MOST_CLOSE_MS = 5000;
/** Additional delay of the watchdog thread, so that an unblocked main thread can log first. */
const BLOCKED_MS = 250;

/** A longer timer would fire immediately. */
const MOST_TIMER_MS = 2 ** 31 - 1;

const WATCH = `
const { workerData } = require('node:worker_threads');
setTimeout(() => process.kill(process.pid, 'SIGKILL'), workerData);`;

/** Time that typical load balancers need to detect the shutdown. */
const NOTICED_MS = 5000;

/**
 * Returns the phases of a shutdown: not ready (`noticeMs`), running requests, closing. At `endMs` the process exits in
 * any case.
 */
export function stopTimes({
  drain_ms,
  shutdown_timeout_ms: timeoutMs,
  trusted_proxies,
}: Pick<ServerSettings, 'drain_ms' | 'shutdown_timeout_ms' | 'trusted_proxies'>): {
  readonly noticeMs: number;
  readonly drainMs: number;
  readonly endMs: number;
} {
  const noticeMs = drain_ms ?? (trusted_proxies.length > 0 ? NOTICED_MS : 0);
  const closeMs = Math.max(LEAST_CLOSE_MS, Math.min(MOST_CLOSE_MS, timeoutMs / 4));
  const drainMs = Math.max(0, timeoutMs - closeMs);
  return { noticeMs, drainMs, endMs: noticeMs + Math.max(timeoutMs, closeMs) };
}

/**
 * Kills the process after `endMs` unless it has exited before. An ordinary exit would wait for statements that DuckDB cannot
 * interrupt. Acknowledged data is safe: commit log and stores are synced before they respond.
 */
export function endHardAfter(endMs: number): void {
  const lastMs = Math.min(endMs, MOST_TIMER_MS);
  const ownMs = Math.max(0, lastMs - BLOCKED_MS);
  setTimeout(() => {
    const log = createLogger({ level: 'warn', destination: 2 });
    log.warn({ endMs }, 'shutdown timeout reached; stopping the process immediately');
    process.kill(process.pid, 'SIGKILL');
  }, ownMs).unref();
  const watch = new Worker(WATCH, {
    eval: true,
    workerData: lastMs,
    name: 'hard-end',
    execArgv: [],
  });
  watch.unref();
  // Without the thread, the timer remains.
  watch.on('error', () => undefined);
}
