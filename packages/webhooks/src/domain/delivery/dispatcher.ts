import type { QueueItem } from '../../model/event.js';
import type { Hook } from '../../model/hook.js';
import { isReady } from '../hook-registry.js';
import type { AppQueue } from './app-queue.js';
import type { AppQueues } from './app-queues.js';
import type { AttemptResultWriter } from './attempt-result-writer.js';
import type { Attempts } from './attempts.js';
import type { Claims } from './claims.js';
import type { DeliveryDeps } from './delivery-deps.js';
import type { DeliveryMetrics } from './delivery-metrics.js';
import type { Host, Hosts } from './hosts.js';
import { NodeSlots } from './node-slots.js';
import type { OwnLease } from './own-lease.js';

/** Below this number of items in memory, a queue claims more from the store. */
const LOW_WINDOW_COUNT = 64;
const STOP_MS = 15_000;

interface DispatcherDeps
  extends Pick<DeliveryDeps, 'clock' | 'log' | 'hooks' | 'queue' | 'settings'> {
  readonly appQueues: AppQueues;
  readonly hosts: Hosts;
  readonly claims: Claims;
  readonly lease: OwnLease;
  readonly attempts: Attempts;
  readonly resultWriter: AttemptResultWriter;
  readonly metrics: DeliveryMetrics;
}

/**
 * Starts attempts fairly: serves the apps in rotation, and limits concurrency and rate by app,
 * receiver and node.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  /** Queues that may start an attempt, in round-robin order. */
  readonly #ready = new Set<AppQueue>();
  /** Queues delayed by limits of this server, with the time at which each may continue. */
  readonly #delayed = new Map<AppQueue, number>();
  readonly #slots: NodeSlots;
  /** Nodes that share the limit of each receiver. */
  liveNodeCount = 1;
  #isDispatchScheduled = false;
  #isStopping = false;
  #whenIdle: (() => void) | undefined;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#slots = new NodeSlots(deps.settings.maxInflight);
  }

  get runningCount(): number {
    return this.#slots.usedCount;
  }

  /** Stops starting attempts. Resolves when none is running, at the latest after `STOP_MS`. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#slots.usedCount === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
    });
    const closeTimeout = new AbortController();
    await Promise.race([idle, this.#deps.clock.sleep(STOP_MS, closeTimeout.signal)]);
    closeTimeout.abort();
  }

  /** Adds the queue to the round-robin order if it may have items. */
  add(appQueue: AppQueue): void {
    this.#ready.add(appQueue);
    this.#scheduleDispatch();
  }

  addIfMore(appQueue: AppQueue): void {
    this.#markReadyIfMore(appQueue);
    this.#scheduleDispatch();
  }

  /** Resumes the delayed queues that are due. */
  continueDelayed(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const [appQueue, untilMs] of this.#delayed) {
      if (untilMs > nowMs) continue;
      this.#delayed.delete(appQueue);
      this.#ready.add(appQueue);
    }
    this.#scheduleDispatch();
  }

  /** Releases the leased items of a queue that were not started. */
  releaseQueue(appQueue: AppQueue): void {
    this.#ready.delete(appQueue);
    this.#delayed.delete(appQueue);
    appQueue.handledDueHints = appQueue.dueHints;
    const items = this.#deps.appQueues.takeAll(appQueue);
    if (items.length > 0) this.#deps.lease.release(items.map(({ id }) => id));
  }

  #scheduleDispatch(): void {
    if (this.#isDispatchScheduled) return;
    this.#isDispatchScheduled = true;
    queueMicrotask(() => {
      this.#isDispatchScheduled = false;
      this.#dispatchReady();
    });
  }

  #dispatchReady(): void {
    for (const appQueue of this.#ready) {
      if (!this.#mayStartAttempt) return;
      this.#ready.delete(appQueue);
      // One attempt per round; a queue with more items moves to the end of the order.
      if (this.#tryDispatch(appQueue)) this.#markReadyIfMore(appQueue);
    }
    while (this.#mayStartAttempt) {
      const appQueue = this.#slots.nextWaiting();
      if (appQueue === undefined || !this.#tryDispatch(appQueue)) return;
      this.#markReadyIfMore(appQueue);
    }
  }

  get #mayStartAttempt(): boolean {
    const isOpen = !this.#isStopping && !this.#deps.resultWriter.isFull && this.#deps.lease.isValid;
    return isOpen && !this.#slots.isFull;
  }

  /** @returns whether the queue can start another attempt immediately. */
  #tryDispatch(appQueue: AppQueue): boolean {
    const hook = this.#deps.hooks.get(appQueue.appId);
    if (hook === undefined || !isReady(hook)) {
      // The items stay in the store: the webhook may become ready again, or another node has just
      // created it.
      this.releaseQueue(appQueue);
      return false;
    }
    if (appQueue.mayHaveDueItems && appQueue.windowCount < LOW_WINDOW_COUNT)
      this.#deps.claims.request(appQueue);
    if (appQueue.windowCount === 0) return false;
    if (appQueue.inflightCount >= this.#deps.settings.maxInflightPerApp) return false;
    if (!this.#slots.admits(appQueue)) return false;
    const host = this.#deps.hosts.of(hook);
    const hostShare = Math.floor(this.#deps.settings.maxInflightPerHost / this.liveNodeCount);
    if (host.inflightCount >= Math.max(1, hostShare)) {
      host.waiting.add(appQueue);
      return false;
    }
    const nowMs = this.#deps.clock.monotonicMs();
    const delayMs = Math.max(
      appQueue.rate?.delayMs(nowMs) ?? 0,
      host.rate?.delayMs(nowMs) ?? 0,
      host.breaker?.delayMs(nowMs) ?? 0,
    );
    if (delayMs > 0) {
      appQueue.throttledSinceMs ??= this.#deps.clock.nowMs();
      this.#delayed.set(appQueue, nowMs + delayMs);
      return false;
    }
    const item = this.#deps.appQueues.shift(appQueue);
    if (item === undefined) return false;
    this.#startAttempt(item, { appQueue, hook, host });
    return true;
  }

  #startAttempt(item: QueueItem, target: { appQueue: AppQueue; hook: Hook; host: Host }): void {
    const { appQueue, host } = target;
    const nowMs = this.#deps.clock.monotonicMs();
    appQueue.rate?.take(nowMs);
    host.rate?.take(nowMs);
    host.breaker?.begin();
    this.#slots.take(appQueue);
    host.inflightCount += 1;
    const throttledSinceMs = appQueue.takeThrottle(item, this.#deps.clock.nowMs());
    if (throttledSinceMs !== item.throttledSinceMs) this.#deps.metrics.throttled.inc();
    const isLeasedHere = (): boolean => item.leaseHolder === this.#deps.queue.leaseHolder;
    const maySend = (): boolean => this.#deps.lease.isValid && isLeasedHere();
    // With an ordering key, the attempt is aborted when this node loses the lease, because another
    // node then delivers the items with this key.
    const signal = item.orderingKey === undefined ? undefined : this.#deps.lease.lostSignal;
    this.#deps.attempts
      .run(item, target.hook, { throttledSinceMs, maySend, signal })
      .then(
        (result) => {
          if (result !== undefined) {
            host.breaker?.end(result.isFailure, this.#deps.clock.monotonicMs());
            this.#deps.resultWriter.push(result.attempt);
          } else {
            host.breaker?.abort(this.#deps.clock.monotonicMs());
            this.#deps.appQueues.end(item);
            if (isLeasedHere()) this.#deps.appQueues.add([item]); // only while this node holds the lease
          }
        },
        (err: unknown) => {
          this.#deps.log.error({ err, guid: item.guid }, 'cannot make a delivery attempt');
          host.breaker?.abort(this.#deps.clock.monotonicMs());
          this.#deps.appQueues.end(item);
          this.#deps.lease.release([item.id]); // the next poll claims the item again
        },
      )
      .finally(() => this.#releaseSlots(appQueue, host));
  }

  #releaseSlots(appQueue: AppQueue, host: Host): void {
    this.#slots.release(appQueue);
    // The queue that used the slot goes behind the queues that wait for it, because its backlog may
    // be endless.
    this.#ready.delete(appQueue);
    for (const waiting of host.waiting) this.#ready.add(waiting);
    host.waiting.clear();
    this.#markReadyIfMore(appQueue);
    this.#deps.hosts.release(host);
    if (this.#slots.usedCount === 0) this.#whenIdle?.();
    this.#scheduleDispatch();
  }

  #markReadyIfMore(appQueue: AppQueue): void {
    if (appQueue.windowCount > 0 || appQueue.mayHaveDueItems) this.#ready.add(appQueue);
  }
}
