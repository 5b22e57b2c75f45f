import { type Clock, type Logger, maskUrl } from '@plinth/kernel';
import type { AttemptRecord } from '../../model/delivery.js';
import type { Hook } from '../../model/hook.js';
import type { QueueStore } from '../../storage/queue/queue-store.js';
import type { SealedUrls } from '../../storage/sealed-urls.js';
import type { HookRegistry } from '../hook-registry.js';

/** Others write between two batches. */
const PAUSE_MS = 5;
/** Nothing was sent: as of a receiver that takes nothing, so that it is found among the failures. */
const NOT_SENT = 503;

interface EndingsDeps {
  readonly queue: QueueStore;
  readonly hooks: Pick<HookRegistry, 'get'>;
  readonly urls: SealedUrls;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Ends what waits for webhooks that are off or were removed: each item becomes a record that says why, a batch at a time. What is
 * left when the process ends is still in the queue, and the engine's next look at it goes on. Source:
 * docs/adr/0124-queued-events-of-disabled-webhooks.md.
 */
export class Endings {
  readonly #needs: EndingsDeps;
  readonly #stop = new AbortController();
  /** At most one entry an app. */
  readonly #waiting = new Set<number>();
  #running: Promise<void> | undefined;

  constructor(needs: EndingsDeps) {
    this.#needs = needs;
  }

  /** Takes up what an earlier process left of apps that were removed. */
  async start(): Promise<void> {
    for (const appId of await this.#needs.queue.endings.appsWithoutHook()) this.look(appId);
  }

  /** Ends what waits for the app, unless its webhook is on or only suspended. Returns at once. */
  look(appId: number): void {
    if (this.#stop.signal.aborted || this.#needs.hooks.get(appId)?.active === true) return;
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
        this.#needs.log.error({ err, app: appId }, 'waiting deliveries not ended');
      }
    }
  }

  async #end(appId: number): Promise<void> {
    const { queue, hooks, clock, log } = this.#needs;
    const hook = hooks.get(appId);
    let count = 0;
    // Those that are held first: what stands before them goes last.
    for (const state of ['held', 'pending'] as const) {
      await this.#inBatches(async () => {
        const nowMs = clock.nowMs();
        const ended = await queue.endings.end(
          appId,
          state,
          this.#record(appId, hook, nowMs),
          nowMs,
        );
        count += ended;
        return ended;
      });
    }
    if (hook === undefined) await this.#inBatches(() => queue.endings.dropDead(appId));
    if (count > 0) log.info({ app: appId, count }, 'waiting deliveries ended unsent');
  }

  async #inBatches(work: () => Promise<number>): Promise<void> {
    while (!this.#stop.signal.aborted && (await work()) > 0) {
      await this.#needs.clock.sleep(PAUSE_MS, this.#stop.signal).catch(() => {});
    }
  }

  #record(appId: number, hook: Hook | undefined, nowMs: number): AttemptRecord {
    return {
      deliveredMs: nowMs,
      durationMs: 0,
      status: `not sent: ${reasonOf(hook)}`,
      status_code: NOT_SENT,
      throttledMs: undefined,
      url: this.#needs.urls.seal(hook === undefined ? '' : maskUrl(hook.url), appId),
      requestHeaders: undefined,
      responseHeaders: undefined,
      responseBody: undefined,
      error: undefined,
    };
  }
}

function reasonOf(hook: Hook | undefined): string {
  if (hook === undefined) return 'the app was deleted';
  const { disabled } = hook;
  return disabled === undefined
    ? 'the operator switched the webhook off'
    : `the webhook was switched off (${disabled.reason})`;
}
