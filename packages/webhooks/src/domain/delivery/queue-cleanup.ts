import { type Clock, type Logger, maskUrl } from '@plinth/kernel';
import type { AttemptRecord } from '../../model/delivery.js';
import type { Hook } from '../../model/hook.js';
import type { EncryptedUrls } from '../../storage/encrypted-urls.js';
import type { QueueStore } from '../../storage/queue/queue-store.js';
import type { HookRegistry } from '../hook-registry.js';

/** Pause between two batches, so that other writers can run. */
const PAUSE_MS = 5;
/** Status code recorded for events that were never sent, so that they appear among the failures. */
const NOT_SENT = 503;

interface QueueCleanupDeps {
  readonly queue: QueueStore;
  readonly hooks: Pick<HookRegistry, 'get'>;
  readonly urls: EncryptedUrls;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Removes queued events of webhooks that are disabled or deleted. Each item becomes a record with
 * the reason, in batches.
 * Items that remain when the process stops stay in the queue; cleanup continues at the next
 * check. Source: docs/adr/0124-queued-events-of-disabled-webhooks.md.
 */
export class QueueCleanup {
  readonly #deps: QueueCleanupDeps;
  readonly #stop = new AbortController();
  /** App ids, so at most one entry per app. */
  readonly #waiting = new Set<number>();
  #running: Promise<void> | undefined;

  constructor(deps: QueueCleanupDeps) {
    this.#deps = deps;
  }

  /** Resumes the cleanup of deleted apps that an earlier process left unfinished. */
  async start(): Promise<void> {
    for (const appId of await this.#deps.queue.cleanup.appsWithoutHook()) this.schedule(appId);
  }

  /**
   * Schedules the cleanup for an app, unless its webhook is active or only suspended. Returns
   * immediately.
   */
  schedule(appId: number): void {
    if (this.#stop.signal.aborted || this.#deps.hooks.get(appId)?.active === true) return;
    this.#waiting.add(appId);
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (const appId of this.#waiting) {
      this.#waiting.delete(appId);
      try {
        await this.#end(appId);
      } catch (err) {
        this.#deps.log.error(
          { err, app: appId },
          'cannot remove the queued deliveries of a webhook',
        );
      }
    }
  }

  async #end(appId: number): Promise<void> {
    const { queue, hooks, clock, log } = this.#deps;
    const hook = hooks.get(appId);
    let count = 0;
    // Held items are removed first, because each waits for a pending item, which must be removed last.
    for (const state of ['held', 'pending'] as const) {
      await this.#inBatches(async () => {
        const nowMs = clock.nowMs();
        const ended = await queue.cleanup.end(
          appId,
          state,
          this.#record(appId, hook, nowMs),
          nowMs,
        );
        count += ended;
        return ended;
      });
    }
    if (hook === undefined) await this.#inBatches(() => queue.cleanup.dropDead(appId));
    if (count > 0) log.info({ app: appId, count }, 'queued deliveries removed without sending');
  }

  async #inBatches(work: () => Promise<number>): Promise<void> {
    while (!this.#stop.signal.aborted && (await work()) > 0) {
      await this.#deps.clock.sleep(PAUSE_MS, this.#stop.signal).catch(() => {});
    }
  }

  #record(appId: number, hook: Hook | undefined, nowMs: number): AttemptRecord {
    return {
      deliveredMs: nowMs,
      durationMs: 0,
      status: `not sent: ${reasonOf(hook)}`,
      status_code: NOT_SENT,
      throttledSinceMs: undefined,
      url: this.#deps.urls.encrypt(hook === undefined ? '' : maskUrl(hook.url), appId),
      requestHeaders: undefined,
      responseHeaders: undefined,
      responseBody: undefined,
      isResponseTruncated: undefined,
      error: undefined,
    };
  }
}

function reasonOf(hook: Hook | undefined): string {
  if (hook === undefined) return 'the app was deleted';
  const { disabled } = hook;
  return disabled === undefined
    ? 'the operator disabled the webhook'
    : `the webhook was disabled (${disabled.reason})`;
}
