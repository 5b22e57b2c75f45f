import type { Hook } from '../../model/hook.js';
import type { AcceptedItem, FinishedAttempt } from '../../storage/queue/queue-model.js';
import { AppQueues } from './app-queues.js';
import { AttemptResultWriter } from './attempt-result-writer.js';
import { Attempts } from './attempts.js';
import { Claims } from './claims.js';
import type { DeliveryDeps, DeliverySettings } from './delivery-deps.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { Dispatcher } from './dispatcher.js';
import { AttemptRate } from './host-limits.js';
import { Hosts } from './hosts.js';
import { OrphanedItems } from './orphaned-items.js';
import { OwnLease } from './own-lease.js';

/** Larger payloads stay in the store until their attempt. */
const MAX_KEPT_PAYLOAD_BYTES = 65_536;
const TICK_MS = 100;
const HEARTBEAT_MS = 1000;
/** Every fifth heartbeat counts the live nodes and all queue items. */
const COUNT_EVERY = 5;
/** Intervals between polls of the store, for due items without a due hint. */
const POLL_BUSY_MS = 200;
const POLL_SHARED_MS = 1000;
const POLL_ALONE_MS = 5000;

/**
 * Delivers due items. Memory contains a window of each app's items; the rest stays in the store.
 * Source: webhooks, section 7.
 */
export class DeliveryEngine {
  readonly metrics: DeliveryMetrics;
  readonly #deps: DeliveryDeps;
  readonly #settings: DeliverySettings;
  readonly #dispatcher: Dispatcher;
  readonly #resultWriter: AttemptResultWriter;
  readonly #appQueues: AppQueues;
  readonly #hosts: Hosts;
  readonly #claims: Claims;
  readonly #lease: OwnLease;
  readonly #orphanedItems: OrphanedItems;
  readonly #timers: Disposable[] = [];
  #heartbeatCount = 0;
  #isStopping = false;
  #nextPollMs = 0;

  constructor(deps: DeliveryDeps) {
    const { settings, clock } = deps;
    this.#deps = deps;
    this.#settings = settings;
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
        for (const appQueue of appQueues) this.#dispatcher.addIfMore(appQueue);
      },
    });
    this.metrics = new DeliveryMetrics(deps.queue, () => this.#dispatcher.runningCount, clock);
    this.#resultWriter = new AttemptResultWriter({
      store: deps.queue,
      clock,
      log: deps.log,
      onWritten: (attempt) => this.#noteFinished(attempt),
    });
    this.#lease = new OwnLease({
      ...deps,
      onLost: () => this.#discardUnstarted(),
      onUnverified: () => this.#orphanedItems.invalidate(),
    });
    this.#dispatcher = new Dispatcher({
      ...deps,
      ...{ appQueues: this.#appQueues, hosts: this.#hosts, claims: this.#claims },
      ...{ lease: this.#lease, resultWriter: this.#resultWriter, metrics: this.metrics },
      attempts: new Attempts({ ...deps, metrics: this.metrics }),
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
   * Stops delivery: running attempts get some time to finish (`Dispatcher.stop`), and items that were
   * not started return to the queue.
   */
  async close(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#claims.stop();
    for (const timer of this.#timers) timer[Symbol.dispose]();
    await this.#dispatcher.stop();
    await this.#resultWriter.close();
    await this.#deps.queue.nodes
      .releaseOwn()
      .catch((err: unknown) =>
        this.#deps.log.error({ err }, 'cannot release leases of queue items'),
      );
  }

  /** Whether the app's queue is below its limit. */
  hasCapacity(appId: number): boolean {
    return (this.#appQueues.find(appId)?.queuedCount ?? 0) < this.#settings.maxQueuedPerApp;
  }

  /**
   * Returns whether an event that is being accepted may go to this node directly. If so, reserves a
   * slot in the app's window, which `enqueue` uses or `unreserve` releases.
   */
  reserve(hook: Hook, payloadSizeBytes: number): boolean {
    if (!this.#settings.isWorker || this.#isStopping || hook.ordering === 'key') return false;
    if (!this.#lease.isValid) return false;
    if (payloadSizeBytes > MAX_KEPT_PAYLOAD_BYTES) return false;
    return this.#appQueues.reserve(this.#appQueues.of(hook.appId));
  }

  unreserve(appId: number): void {
    this.#appQueues.unreserve(this.#appQueues.of(appId));
  }

  /**
   * Runs `lease` so that leases whose outcome is unknown are found and released (`OrphanedItems`).
   * @param lease makes items durable, then passes them to `enqueue` or releases their slots.
   */
  async trackLeasing<T>(lease: () => Promise<T>): Promise<T> {
    return await this.#orphanedItems.trackLeasing(lease);
  }

  /**
   * Adds durable items. Leased ones start as soon as their queue is served, others when they are
   * due.
   */
  enqueue(items: readonly AcceptedItem[]): void {
    for (const { item, state } of items) {
      const appQueue = this.#appQueues.of(item.appId);
      appQueue.queuedCount += 1;
      if (state === 'leased') {
        this.#appQueues.fill(appQueue, item);
        this.#dispatcher.add(appQueue);
      } else if (state === 'pending') this.noteDue(item.appId, item.dueMs);
    }
  }

  /** Records that the store has an item of this app that is due at `dueMs`. */
  noteDue(appId: number, dueMs: number): void {
    if (!this.#settings.isWorker) return;
    const appQueue = this.#appQueues.of(appId);
    if (dueMs <= this.#deps.clock.nowMs()) {
      appQueue.dueHints += 1;
      this.#dispatcher.add(appQueue);
    } else appQueue.nextDueMs = Math.min(appQueue.nextDueMs ?? dueMs, dueMs);
  }

  noteQueued(appId: number, count: number): void {
    this.#appQueues.of(appId).queuedCount += count;
  }

  /** Returns the delivery state of the webhook's receiver for operators. */
  describeHost(hook: Hook): object | undefined {
    return this.#hosts.describe(hook);
  }

  /** Updates the counts and schedules a retry. Called when the record is durable and the item has its next state. */
  #noteFinished({ item, next }: FinishedAttempt): void {
    this.#appQueues.end(item);
    const appQueue = this.#appQueues.of(item.appId);
    if (next.kind === 'retry') this.noteDue(item.appId, next.dueMs);
    else {
      appQueue.queuedCount = Math.max(0, appQueue.queuedCount - 1);
      // The next item with this key may start.
      if (item.orderingKey !== undefined) this.noteDue(item.appId, 0);
    }
    // Pending results may have prevented further attempts.
    this.#dispatcher.addIfMore(appQueue);
  }

  async #tick(): Promise<void> {
    const nowMs = this.#deps.clock.nowMs();
    for (const appQueue of this.#appQueues.values()) {
      if (appQueue.nextDueMs === undefined || appQueue.nextDueMs > nowMs) continue;
      appQueue.nextDueMs = undefined;
      appQueue.dueHints += 1;
      this.#dispatcher.add(appQueue);
    }
    this.#lease.check();
    this.#dispatcher.continueDelayed();
    if (this.#deps.clock.monotonicMs() >= this.#nextPollMs) await this.#poll();
  }

  async #poll(): Promise<void> {
    const { queue, hooks, clock, log } = this.#deps;
    let isBusy = false;
    try {
      if (queue.isShared) await hooks.refresh();
      const nowMs = clock.nowMs();
      for (const { appId, dueMs } of await queue.counts.pendingApps()) {
        isBusy ||= dueMs <= nowMs;
        this.#deps.queueCleanup.schedule(appId);
        const appQueue = this.#appQueues.of(appId);
        if (!appQueue.mayHaveDueItems && !appQueue.isClaiming) this.noteDue(appId, dueMs);
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
      this.#orphanedItems.check();
      this.#heartbeatCount += 1;
      if (this.#heartbeatCount % COUNT_EVERY !== 0) return;
      this.#dispatcher.liveNodeCount = await queue.nodes.liveNodeCount();
      for (const [appId, count] of await queue.counts.queuedCounts()) {
        this.#appQueues.of(appId).queuedCount = count;
      }
    } catch (err) {
      log.error({ err }, 'webhook node heartbeat failed');
    }
  }

  /** Drops claimed items that were not started, because other nodes now own them. */
  #discardUnstarted(): void {
    for (const appQueue of this.#appQueues.values()) {
      this.#appQueues.takeAll(appQueue);
      appQueue.dueHints += 1;
      this.#dispatcher.add(appQueue);
    }
  }

  /** Releases the items of a queue when its webhook was disabled, suspended or deleted. */
  #endQueue(appId: number): void {
    this.#deps.queueCleanup.schedule(appId);
    const appQueue = this.#appQueues.find(appId);
    if (appQueue === undefined) return;
    this.#dispatcher.releaseQueue(appQueue);
    appQueue.nextDueMs = undefined;
    appQueue.queuedCount = appQueue.inflightCount;
  }
}
