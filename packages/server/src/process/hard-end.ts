import { Worker } from 'node:worker_threads';
import { createLogger } from '@plinth/kernel';
import type { ServerSettings } from '../settings.js';

/** Least time to close services and stores in, however short a stop is meant to be, and most that is kept for it. */
const LEAST_CLOSE_MS = 3000;
const MOST_CLOSE_MS = 5000;
/** How much later the thread comes, for a main thread that is held up itself and cannot log. */
const BLOCKED_MS = 250;

/** A longer timer would come at once. */
const MOST_TIMER_MS = 2 ** 31 - 1;

const WATCH = `
const { workerData } = require('node:worker_threads');
setTimeout(() => process.kill(process.pid, 'SIGKILL'), workerData);`;

/** What a balancer takes to notice, as they are set usually. */
const NOTICED_MS = 5000;

/**
 * A stop: so long does it only say that it comes, then so long may requests run, and then everything is closed; at `endMs` the
 * process ends, whatever still runs.
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
 * Ends the process after `endMs` unless it has ended by itself. An ordinary exit would wait for the statements that the engine
 * cannot interrupt. What was acknowledged is on disk: commit log and stores are synced before they answer.
 */
export function endHardAfter(endMs: number): void {
  const lastMs = Math.min(endMs, MOST_TIMER_MS);
  const ownMs = Math.max(0, lastMs - BLOCKED_MS);
  setTimeout(() => {
    const log = createLogger({ level: 'warn', destination: 2 });
    log.warn({ endMs }, 'not all has ended within the time for a stop, the process ends');
    process.kill(process.pid, 'SIGKILL');
  }, ownMs).unref();
  const watch = new Worker(WATCH, {
    eval: true,
    workerData: lastMs,
    name: 'hard-end',
    execArgv: [],
  });
  watch.unref();
  // Without a thread for it there is the timer.
  watch.on('error', () => undefined);
}
