import type { QueueItem } from '../../model/event.js';
import type { Hook } from '../../model/hook.js';
import type { AcceptedItem, FinishedAttempt } from '../../storage/queue/queue-model.js';
import { isReady } from '../hook-registry.js';
import type { AppQueue } from './app-queue.js';
import { AppQueues } from './app-queues.js';
import { Attempts } from './attempts.js';
import { Claims } from './claims.js';
import type { EngineDeps, EngineSettings } from './engine-deps.js';
import { EngineMetrics } from './engine-metrics.js';
import { Finisher } from './finisher.js';
import { AttemptRate } from './host-limits.js';
import { type Host, Hosts } from './hosts.js';
import { NodeSlots } from './node-slots.js';
import { OrphanedItems } from './orphaned-items.js';
import { OwnLease } from './own-lease.js';

/** Below this number of items in memory, a queue claims more from the store. */
const LOW_WINDOW_COUNT = 64;
/** Larger payloads stay in the store until their attempt. */
const MAX_KEPT_PAYLOAD_BYTES = 65_536;
const TICK_MS = 100;
const HEARTBEAT_MS = 1000;
/** Every fifth heartbeat counts the live nodes and all queue items. */
const COUNT_EVERY = 5;
/** Intervals between polls of the store for work that no hint announced. */
const POLL_BUSY_MS = 200;
const POLL_SHARED_MS = 1000;
const POLL_ALONE_MS = 5000;
const STOP_MS = 15_000;

/**
 * Delivers due items fairly: apps alternate, and concurrency is limited per app and per receiver.
 * Memory contains a window of each app's items; the others remain in the store. Source: webhooks,
 * section 7.
 */
export class Engine {
  readonly metrics: EngineMetrics;
  readonly #deps: EngineDeps;
  readonly #settings: EngineSettings;
  readonly #attempts: Attempts;
  readonly #finisher: Finisher;
  readonly #appQueues: AppQueues;
  readonly #hosts: Hosts;
  readonly #claims: Claims;
  readonly #lease: OwnLease;
  readonly #orphanedItems: OrphanedItems;
  /** Queues that may start an attempt, in round-robin order. */
  readonly #ready = new Set<AppQueue>();
  /** Queues delayed by limits of this server, with the time at which each may continue. */
  readonly #delayed = new Map<AppQueue, number>();
  readonly #timers: Disposable[] = [];
  readonly #slots: NodeSlots;
  #liveNodeCount = 1;
  #heartbeatCount = 0;
  #isPumping = false;
  #isStopping = false;
  #nextPollMs = 0;
  #whenIdle: (() => void) | undefined;

  constructor(deps: EngineDeps) {
    const { settings, clock } = deps;
    this.#deps = deps;
    this.#settings = settings;
    this.#slots = new NodeSlots(settings.maxInflight);
    const rateOf = (perSec: number | undefined) =>
      perSec === undefined ? undefined : new AttemptRate(perSec, clock.monotonicMs());
    this.#appQueues = new AppQueues(() => rateOf(settings.ratePerApp));
    this.#hosts = new Hosts({
      makeRate: () => rateOf(settings.ratePerHost),
      hasBreaker: settings.hasBreaker,
    });
    this.#orphanedItems = new OrphanedItems({ ...deps, ownIds: () => this.#appQueues.ids() });
    this.#claims = new Claims({
      ...deps,
      appQueues: this.#appQueues,
      orphanedItems: this.#orphanedItems,
      onClaimed: (appQueues) => {
        for (const appQueue of appQueues) this.#readyIfMore(appQueue);
        this.#pumpSoon();
      },
    });
    this.metrics = new EngineMetrics(deps.queue, () => this.#slots.usedCount, clock);
    this.#attempts = new Attempts({ ...deps, metrics: this.metrics });
    this.#finisher = new Finisher({
      store: deps.queue,
      clock,
      log: deps.log,
      onWritten: (attempt) => this.#settle(attempt),
    });
    this.#lease = new OwnLease({
      ...deps,
      onLost: () => this.#dropAll(),
      onUnverified: () => this.#orphanedItems.invalidate(),
    });
    deps.hooks.whenEnded((appId) => this.#endQueue(appId));
  }

  async start(): Promise<void> {
    const { queue, clock } = this.#deps;
    await this.#lease.start();
    for (const [appId, count] of await queue.counts.queuedCounts()) {
      this.#appQueues.of(appId).queuedCount = count;
    }
    if (!this.#settings.isWorker) return;
    await this.#poll();
    this.#timers.push(clock.every(TICK_MS, () => this.#tick()));
    this.#timers.push(clock.every(HEARTBEAT_MS, () => this.#heartbeat()));
  }

  /**
   * Stops delivery: running attempts have `STOP_MS` to finish, and items that were not started return to the queue.
   */
  async close(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#claims.stop();
    for (const timer of this.#timers) timer[Symbol.dispose]();
    if (this.#slots.usedCount > 0) {
      const idle = new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
      const closeTimeout = new AbortController();
      await Promise.race([idle, this.#deps.clock.sleep(STOP_MS, closeTimeout.signal)]);
      closeTimeout.abort();
    }
    await this.#finisher.close();
    await this.#deps.queue.nodes
      .releaseOwn()
      .catch((err: unknown) =>
        this.#deps.log.error({ err }, 'cannot release leases of queue items'),
      );
  }

  /** Whether the app's queue is below its limit. */
  hasRoom(appId: number): boolean {
    return (this.#appQueues.find(appId)?.queuedCount ?? 0) < this.#settings.maxQueuedPerApp;
  }

  /**
   * Returns whether an event that is being accepted may go to this node directly. If so, reserves a
   * slot, which `take` uses or `unreserve` releases.
   */
  reserve(hook: Hook, payloadSizeBytes: number): boolean {
    if (!this.#settings.isWorker || this.#isStopping || hook.ordering === 'key') return false;
    if (!this.#lease.isHeld) return false;
    if (payloadSizeBytes > MAX_KEPT_PAYLOAD_BYTES) return false;
    return this.#appQueues.reserve(this.#appQueues.of(hook.appId));
  }

  unreserve(appId: number): void {
    this.#appQueues.unreserve(this.#appQueues.of(appId));
  }

  /** @param take makes items durable, then passes them to `take` or releases their slots. */
  async taking<T>(take: () => Promise<T>): Promise<T> {
    return await this.#orphanedItems.taking(take);
  }

  /**
   * Adds durable items. Leased ones start as soon as their queue is served, others when they are
   * due.
   */
  take(items: readonly AcceptedItem[]): void {
    for (const { item, state } of items) {
      const appQueue = this.#appQueues.of(item.appId);
      appQueue.queuedCount += 1;
      if (state === 'leased') {
        this.#appQueues.fill(appQueue, item);
        this.#ready.add(appQueue);
      } else if (state === 'pending') this.noteDue(item.appId, item.dueMs);
    }
    this.#pumpSoon();
  }

  /** Notes that the store has an item for this app. */
  noteDue(appId: number, dueMs: number): void {
    if (!this.#settings.isWorker) return;
    const appQueue = this.#appQueues.of(appId);
    if (dueMs <= this.#deps.clock.nowMs()) {
      appQueue.moreHints += 1;
      this.#ready.add(appQueue);
      this.#pumpSoon();
    } else appQueue.nextDueMs = Math.min(appQueue.nextDueMs ?? dueMs, dueMs);
  }

  noteQueued(appId: number, count: number): void {
    this.#appQueues.of(appId).queuedCount += count;
  }

  /** Returns the delivery state of the webhook's receiver for operators. */
  describeHost(hook: Hook): object | undefined {
    return this.#hosts.describe(hook);
  }

  #pumpSoon(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    queueMicrotask(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    for (const appQueue of this.#ready) {
      if (!this.#mayBegin) return;
      this.#ready.delete(appQueue);
      // One attempt per round; a queue with more items moves to the end of the order.
      if (this.#tryQueue(appQueue)) this.#readyIfMore(appQueue);
    }
    while (this.#mayBegin) {
      const appQueue = this.#slots.nextWaiting();
      if (appQueue === undefined || !this.#tryQueue(appQueue)) return;
      this.#readyIfMore(appQueue);
    }
  }

  get #mayBegin(): boolean {
    const isOpen = !this.#isStopping && !this.#finisher.isFull && this.#lease.isHeld;
    return isOpen && !this.#slots.isFull;
  }

  /** @returns whether the queue can start another attempt immediately. */
  #tryQueue(appQueue: AppQueue): boolean {
    const hook = this.#deps.hooks.get(appQueue.appId);
    if (hook === undefined || !isReady(hook)) {
      // The items stay in the store: the webhook may become ready again, or another node has just
      // created it.
      this.#emptyQueue(appQueue);
      return false;
    }
    if (appQueue.hasMore && appQueue.windowCount < LOW_WINDOW_COUNT) this.#claims.want(appQueue);
    if (appQueue.windowCount === 0) return false;
    if (appQueue.inflightCount >= this.#settings.maxInflightPerApp) return false;
    if (!this.#slots.admits(appQueue)) return false;
    const host = this.#hosts.of(hook);
    const hostShare = Math.floor(this.#settings.maxInflightPerHost / this.#liveNodeCount);
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
    const item = this.#appQueues.shift(appQueue);
    if (item === undefined) return false;
    this.#begin(item, { appQueue, hook, host });
    return true;
  }

  #begin(item: QueueItem, at: { appQueue: AppQueue; hook: Hook; host: Host }): void {
    const { appQueue, host } = at;
    const nowMs = this.#deps.clock.monotonicMs();
    appQueue.rate?.take(nowMs);
    host.rate?.take(nowMs);
    host.breaker?.begin();
    this.#slots.take(appQueue);
    host.inflightCount += 1;
    const throttledMs = appQueue.takeThrottle(item, this.#deps.clock.nowMs());
    if (throttledMs !== item.throttledMs) this.metrics.throttled.inc();
    const isOwn = (): boolean => item.node === this.#deps.queue.node;
    const isWanted = (): boolean => this.#lease.isHeld && isOwn();
    // With an ordering key, the attempt is aborted when this node loses the lease, because another
    // node then continues with the key.
    const signal = item.orderingKey === undefined ? undefined : this.#lease.over;
    this.#attempts
      .make(item, at.hook, { throttledMs, isWanted, signal })
      .then(
        (made) => {
          host.breaker?.end(made?.isFailure ?? true, this.#deps.clock.monotonicMs());
          if (made !== undefined) this.#finisher.push(made.attempt);
          else {
            this.#appQueues.end(item);
            if (isOwn()) this.#appQueues.add([item]); // this node still holds the lease
          }
        },
        (err: unknown) => {
          this.#deps.log.error({ err, guid: item.guid }, 'cannot make a delivery attempt');
          host.breaker?.end(true, this.#deps.clock.monotonicMs());
          this.#appQueues.end(item);
          this.#lease.release([item.id]); // the next poll claims it again
        },
      )
      .finally(() => this.#free(appQueue, host));
  }

  #free(appQueue: AppQueue, host: Host): void {
    this.#slots.release(appQueue);
    // The queue that used the slot moves behind the waiting queues, because its backlog may be endless.
    this.#ready.delete(appQueue);
    for (const waiting of host.waiting) this.#ready.add(waiting);
    host.waiting.clear();
    this.#readyIfMore(appQueue);
    this.#hosts.release(host);
    if (this.#slots.usedCount === 0) this.#whenIdle?.();
    this.#pumpSoon();
  }

  /** Updates the counts after the record is durable and the item has its next state. */
  #settle({ item, next }: FinishedAttempt): void {
    this.#appQueues.end(item);
    const appQueue = this.#appQueues.of(item.appId);
    if (next.kind === 'retry') this.noteDue(item.appId, next.dueMs);
    else {
      appQueue.queuedCount = Math.max(0, appQueue.queuedCount - 1);
      // The next item with this key may start.
      if (item.orderingKey !== undefined) this.noteDue(item.appId, 0);
    }
    this.#pumpSoon();
  }

  #readyIfMore(appQueue: AppQueue): void {
    if (appQueue.windowCount > 0 || appQueue.hasMore) this.#ready.add(appQueue);
  }

  async #tick(): Promise<void> {
    const nowMs = this.#deps.clock.nowMs();
    const monotonicMs = this.#deps.clock.monotonicMs();
    for (const [appQueue, untilMs] of this.#delayed) {
      if (untilMs > monotonicMs) continue;
      this.#delayed.delete(appQueue);
      this.#ready.add(appQueue);
    }
    for (const appQueue of this.#appQueues.values()) {
      if (appQueue.nextDueMs === undefined || appQueue.nextDueMs > nowMs) continue;
      appQueue.nextDueMs = undefined;
      appQueue.moreHints += 1;
      this.#ready.add(appQueue);
    }
    this.#lease.look();
    this.#pumpSoon();
    if (monotonicMs >= this.#nextPollMs) await this.#poll();
  }

  async #poll(): Promise<void> {
    const { queue, hooks, clock, log } = this.#deps;
    let isBusy = false;
    try {
      if (queue.isShared) await hooks.refresh();
      const nowMs = clock.nowMs();
      for (const { appId, dueMs } of await queue.counts.pendingApps()) {
        isBusy ||= dueMs <= nowMs;
        this.#deps.endings.look(appId);
        const appQueue = this.#appQueues.of(appId);
        if (!appQueue.hasMore && !appQueue.isClaiming) this.noteDue(appId, dueMs);
      }
    } catch (err) {
      log.error({ err }, 'cannot read the webhook queue');
    }
    const idleMs = queue.isShared ? POLL_SHARED_MS : POLL_ALONE_MS;
    const pauseMs = queue.isShared && isBusy ? POLL_BUSY_MS : idleMs;
    this.#nextPollMs = clock.monotonicMs() + pauseMs;
  }

  async #heartbeat(): Promise<void> {
    const { queue, log } = this.#deps;
    if (!queue.isShared) return;
    try {
      await this.#lease.keep();
      this.#orphanedItems.look();
      this.#heartbeatCount += 1;
      if (this.#heartbeatCount % COUNT_EVERY !== 0) return;
      this.#liveNodeCount = await queue.nodes.liveNodeCount();
      for (const [appId, count] of await queue.counts.queuedCounts()) {
        this.#appQueues.of(appId).queuedCount = count;
      }
    } catch (err) {
      log.error({ err }, 'webhook node heartbeat failed');
    }
  }

  /** Drops the items that were claimed and not started, because other nodes now own them. */
  #dropAll(): void {
    for (const appQueue of this.#appQueues.values()) {
      this.#appQueues.takeAll(appQueue);
      appQueue.moreHints += 1;
      this.#ready.add(appQueue);
    }
  }

  /** A webhook was disabled, suspended or deleted. */
  #endQueue(appId: number): void {
    this.#deps.endings.look(appId);
    const appQueue = this.#appQueues.find(appId);
    if (appQueue === undefined) return;
    this.#emptyQueue(appQueue);
    appQueue.nextDueMs = undefined;
    appQueue.queuedCount = appQueue.inflightCount;
  }

  /** Releases the leased items that were not started. */
  #emptyQueue(appQueue: AppQueue): void {
    this.#ready.delete(appQueue);
    this.#delayed.delete(appQueue);
    appQueue.seenHints = appQueue.moreHints;
    const items = this.#appQueues.takeAll(appQueue);
    if (items.length > 0) this.#lease.release(items.map(({ id }) => id));
  }
}
