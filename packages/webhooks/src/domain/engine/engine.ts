import type { QueueItem } from '../../model/event.js';
import type { Hook } from '../../model/hook.js';
import type { AcceptedItem, FinishedAttempt } from '../../storage/queue/queue-model.js';
import { isReady } from '../hook-registry.js';
import { Attempts } from './attempts.js';
import { Claims } from './claims.js';
import type { EngineDeps, EngineSettings } from './engine-deps.js';
import { EngineMetrics } from './engine-metrics.js';
import { Finisher } from './finisher.js';
import { AttemptRate } from './host-limits.js';
import { type Host, Hosts } from './hosts.js';
import type { Lane } from './lane.js';
import { Lanes } from './lanes.js';
import { NodeSlots } from './node-slots.js';
import { OwnLease } from './own-lease.js';
import { Strays } from './strays.js';

/** An app with fewer in memory gets more from the store. */
const LOW_WINDOW_COUNT = 64;
/** Larger payloads wait in the store, not in memory. */
const MAX_KEPT_PAYLOAD_BYTES = 65_536;
const TICK_MS = 100;
const HEARTBEAT_MS = 1000;
/** All nodes and all that waits are counted in every so many of them. */
const COUNT_EVERY = 5;
/** How long until the store is asked whether there is something that nobody said. */
const POLL_BUSY_MS = 200;
const POLL_SHARED_MS = 1000;
const POLL_ALONE_MS = 5000;
const STOP_MS = 15_000;

/**
 * Sends what is due, fairly: apps take turns, and each app and each receiver has its share of the places. Memory
 * holds a window of each app's items; the rest waits in the store. Source: webhooks, section 7.
 */
export class Engine {
  readonly metrics: EngineMetrics;
  readonly #needs: EngineDeps;
  readonly #settings: EngineSettings;
  readonly #attempts: Attempts;
  readonly #finisher: Finisher;
  readonly #lanes: Lanes;
  readonly #hosts: Hosts;
  readonly #claims: Claims;
  readonly #lease: OwnLease;
  readonly #strays: Strays;
  /** Lanes that may begin an attempt, in the order of their turns. */
  readonly #ready = new Set<Lane>();
  /** Lanes that our own limits hold back, and until when. */
  readonly #delayed = new Map<Lane, number>();
  readonly #timers: Disposable[] = [];
  readonly #slots: NodeSlots;
  #liveNodeCount = 1;
  #heartbeatCount = 0;
  #isPumping = false;
  #isStopping = false;
  #nextPollMs = 0;
  #whenIdle: (() => void) | undefined;

  constructor(needs: EngineDeps) {
    const { settings, clock } = needs;
    this.#needs = needs;
    this.#settings = settings;
    this.#slots = new NodeSlots(settings.maxInflight);
    const rateOf = (perSec: number | undefined) =>
      perSec === undefined ? undefined : new AttemptRate(perSec, clock.monotonicMs());
    this.#lanes = new Lanes(() => rateOf(settings.ratePerApp));
    this.#hosts = new Hosts({
      makeRate: () => rateOf(settings.ratePerHost),
      hasBreaker: settings.hasBreaker,
    });
    this.#strays = new Strays({ ...needs, ownIds: () => this.#lanes.ids() });
    this.#claims = new Claims({
      ...needs,
      lanes: this.#lanes,
      strays: this.#strays,
      onClaimed: (lanes) => {
        for (const lane of lanes) this.#readyIfMore(lane);
        this.#pumpSoon();
      },
    });
    this.metrics = new EngineMetrics(needs.queue, () => this.#slots.usedCount, clock);
    this.#attempts = new Attempts({ ...needs, metrics: this.metrics });
    this.#finisher = new Finisher({
      store: needs.queue,
      clock,
      log: needs.log,
      onWritten: (attempt) => this.#settle(attempt),
    });
    this.#lease = new OwnLease({
      ...needs,
      onLost: () => this.#dropAll(),
      onDoubt: () => this.#strays.doubt(),
    });
    needs.hooks.whenEnded((appId) => this.#endLane(appId));
  }

  async start(): Promise<void> {
    const { queue, clock } = this.#needs;
    await this.#lease.start();
    for (const [appId, count] of await queue.counts.queuedCounts()) {
      this.#lanes.of(appId).queuedCount = count;
    }
    if (!this.#settings.isWorker) return;
    await this.#poll();
    this.#timers.push(clock.every(TICK_MS, () => this.#tick()));
    this.#timers.push(clock.every(HEARTBEAT_MS, () => this.#heartbeat()));
  }

  /** Lets running attempts end, for a while; what was not begun goes back to the queue. */
  async close(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#claims.stop();
    for (const timer of this.#timers) timer[Symbol.dispose]();
    if (this.#slots.usedCount > 0) {
      const idle = new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
      const patience = new AbortController();
      await Promise.race([idle, this.#needs.clock.sleep(STOP_MS, patience.signal)]);
      patience.abort();
    }
    await this.#finisher.close();
    await this.#needs.queue.nodes
      .releaseOwn()
      .catch((err: unknown) => this.#needs.log.error({ err }, 'leases not given back'));
  }

  /** Whether the app's part of the queue has room. */
  hasRoom(appId: number): boolean {
    return (this.#lanes.find(appId)?.queuedCount ?? 0) < this.#settings.maxQueuedPerApp;
  }

  /**
   * Whether an event that is being accepted may go to this node directly; promises a place then, which `take` or
   * `unreserve` ends.
   */
  reserve(hook: Hook, payloadSizeBytes: number): boolean {
    if (!this.#settings.isWorker || this.#isStopping || hook.ordering === 'key') return false;
    if (!this.#lease.isHeld) return false;
    if (payloadSizeBytes > MAX_KEPT_PAYLOAD_BYTES) return false;
    return this.#lanes.reserve(this.#lanes.of(hook.appId));
  }

  unreserve(appId: number): void {
    this.#lanes.unreserve(this.#lanes.of(appId));
  }

  /** @param take makes items durable, and hands them to `take` or gives their places back. */
  async taking<T>(take: () => Promise<T>): Promise<T> {
    return await this.#strays.taking(take);
  }

  /** Durable items: leased ones are begun as soon as it is their turn, others when they are due. */
  take(items: readonly AcceptedItem[]): void {
    for (const { item, state } of items) {
      const lane = this.#lanes.of(item.appId);
      lane.queuedCount += 1;
      if (state === 'leased') {
        this.#lanes.fill(lane, item);
        this.#ready.add(lane);
      } else if (state === 'pending') this.noteDue(item.appId, item.dueMs);
    }
    this.#pumpSoon();
  }

  /** There is something in the store for this app. */
  noteDue(appId: number, dueMs: number): void {
    if (!this.#settings.isWorker) return;
    const lane = this.#lanes.of(appId);
    if (dueMs <= this.#needs.clock.nowMs()) {
      lane.moreHints += 1;
      this.#ready.add(lane);
      this.#pumpSoon();
    } else lane.nextDueMs = Math.min(lane.nextDueMs ?? dueMs, dueMs);
  }

  noteQueued(appId: number, count: number): void {
    this.#lanes.of(appId).queuedCount += count;
  }

  /** For operators: how a receiver is being treated. */
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
    for (const lane of this.#ready) {
      if (!this.#mayBegin) return;
      this.#ready.delete(lane);
      // One attempt per turn; the lane goes to the end of the line when it has more.
      if (this.#tryLane(lane)) this.#readyIfMore(lane);
    }
    while (this.#mayBegin) {
      const lane = this.#slots.nextWaiting();
      if (lane === undefined || !this.#tryLane(lane)) return;
      this.#readyIfMore(lane);
    }
  }

  get #mayBegin(): boolean {
    const isOpen = !this.#isStopping && !this.#finisher.isFull && this.#lease.isHeld;
    return isOpen && !this.#slots.isFull;
  }

  /** @returns whether the lane can be tried again at once. */
  #tryLane(lane: Lane): boolean {
    const hook = this.#needs.hooks.get(lane.appId);
    if (hook === undefined || !isReady(hook)) {
      // It may be ready again, or be one that another node has just made: nothing is thrown away here.
      this.#emptyLane(lane);
      return false;
    }
    if (lane.hasMore && lane.windowCount < LOW_WINDOW_COUNT) this.#claims.want(lane);
    if (lane.windowCount === 0) return false;
    if (lane.inflightCount >= this.#settings.maxInflightPerApp) return false;
    if (!this.#slots.admits(lane)) return false;
    const host = this.#hosts.of(hook);
    const hostShare = Math.floor(this.#settings.maxInflightPerHost / this.#liveNodeCount);
    if (host.inflightCount >= Math.max(1, hostShare)) {
      host.waiting.add(lane);
      return false;
    }
    const nowMs = this.#needs.clock.monotonicMs();
    const delayMs = Math.max(
      lane.rate?.delayMs(nowMs) ?? 0,
      host.rate?.delayMs(nowMs) ?? 0,
      host.breaker?.delayMs(nowMs) ?? 0,
    );
    if (delayMs > 0) {
      lane.throttledSinceMs ??= this.#needs.clock.nowMs();
      this.#delayed.set(lane, nowMs + delayMs);
      return false;
    }
    const item = this.#lanes.shift(lane);
    if (item === undefined) return false;
    this.#begin(item, { lane, hook, host });
    return true;
  }

  #begin(item: QueueItem, at: { lane: Lane; hook: Hook; host: Host }): void {
    const { lane, host } = at;
    const nowMs = this.#needs.clock.monotonicMs();
    lane.rate?.take(nowMs);
    host.rate?.take(nowMs);
    host.breaker?.begin();
    this.#slots.take(lane);
    host.inflightCount += 1;
    const throttledMs = lane.takeThrottle(item, this.#needs.clock.nowMs());
    if (throttledMs !== item.throttledMs) this.metrics.throttled.inc();
    const isOwn = (): boolean => item.node === this.#needs.queue.node;
    const isWanted = (): boolean => this.#lease.isHeld && isOwn();
    // Nobody goes on with the key before this is over.
    const signal = item.orderingKey === undefined ? undefined : this.#lease.over;
    this.#attempts
      .make(item, at.hook, { throttledMs, isWanted, signal })
      .then(
        (made) => {
          host.breaker?.end(made?.isFailure ?? true, this.#needs.clock.monotonicMs());
          if (made !== undefined) this.#finisher.push(made.attempt);
          else {
            this.#lanes.end(item);
            if (isOwn()) this.#lanes.add([item]); // nobody has ended the lease
          }
        },
        (err: unknown) => {
          this.#needs.log.error({ err, guid: item.guid }, 'attempt not made');
          host.breaker?.end(true, this.#needs.clock.monotonicMs());
          this.#lanes.end(item);
          this.#lease.giveBack([item.id]); // the next poll finds it
        },
      )
      .finally(() => this.#free(lane, host));
  }

  #free(lane: Lane, host: Host): void {
    this.#slots.release(lane);
    // The one that had the place comes behind those that wait for one: its backlog may be endless.
    this.#ready.delete(lane);
    for (const waiting of host.waiting) this.#ready.add(waiting);
    host.waiting.clear();
    this.#readyIfMore(lane);
    this.#hosts.release(host);
    if (this.#slots.usedCount === 0) this.#whenIdle?.();
    this.#pumpSoon();
  }

  /** The record is durable and the item has moved on. */
  #settle({ item, next }: FinishedAttempt): void {
    this.#lanes.end(item);
    const lane = this.#lanes.of(item.appId);
    if (next.kind === 'retry') this.noteDue(item.appId, next.dueMs);
    else {
      lane.queuedCount = Math.max(0, lane.queuedCount - 1);
      // Another item of the key may go.
      if (item.orderingKey !== undefined) this.noteDue(item.appId, 0);
    }
    this.#pumpSoon();
  }

  #readyIfMore(lane: Lane): void {
    if (lane.windowCount > 0 || lane.hasMore) this.#ready.add(lane);
  }

  async #tick(): Promise<void> {
    const nowMs = this.#needs.clock.nowMs();
    const monotonicMs = this.#needs.clock.monotonicMs();
    for (const [lane, untilMs] of this.#delayed) {
      if (untilMs > monotonicMs) continue;
      this.#delayed.delete(lane);
      this.#ready.add(lane);
    }
    for (const lane of this.#lanes.values()) {
      if (lane.nextDueMs === undefined || lane.nextDueMs > nowMs) continue;
      lane.nextDueMs = undefined;
      lane.moreHints += 1;
      this.#ready.add(lane);
    }
    this.#lease.look();
    this.#pumpSoon();
    if (monotonicMs >= this.#nextPollMs) await this.#poll();
  }

  async #poll(): Promise<void> {
    const { queue, hooks, clock, log } = this.#needs;
    let isBusy = false;
    try {
      if (queue.isShared) await hooks.refresh();
      const nowMs = clock.nowMs();
      for (const { appId, dueMs } of await queue.counts.pendingApps()) {
        isBusy ||= dueMs <= nowMs;
        this.#needs.endings.look(appId);
        const lane = this.#lanes.of(appId);
        if (!lane.hasMore && !lane.isClaiming) this.noteDue(appId, dueMs);
      }
    } catch (err) {
      log.error({ err }, 'queue not read');
    }
    const idleMs = queue.isShared ? POLL_SHARED_MS : POLL_ALONE_MS;
    const pauseMs = queue.isShared && isBusy ? POLL_BUSY_MS : idleMs;
    this.#nextPollMs = clock.monotonicMs() + pauseMs;
  }

  async #heartbeat(): Promise<void> {
    const { queue, log } = this.#needs;
    if (!queue.isShared) return;
    try {
      await this.#lease.keep();
      this.#strays.look();
      this.#heartbeatCount += 1;
      if (this.#heartbeatCount % COUNT_EVERY !== 0) return;
      this.#liveNodeCount = await queue.nodes.liveNodeCount();
      for (const [appId, count] of await queue.counts.queuedCounts()) {
        this.#lanes.of(appId).queuedCount = count;
      }
    } catch (err) {
      log.error({ err }, 'heartbeat failed');
    }
  }

  /** Others have what was claimed and not begun. */
  #dropAll(): void {
    for (const lane of this.#lanes.values()) {
      this.#lanes.takeAll(lane);
      lane.moreHints += 1;
      this.#ready.add(lane);
    }
  }

  /** A webhook went off. */
  #endLane(appId: number): void {
    this.#needs.endings.look(appId);
    const lane = this.#lanes.find(appId);
    if (lane === undefined) return;
    this.#emptyLane(lane);
    lane.nextDueMs = undefined;
    lane.queuedCount = lane.inflightCount;
  }

  /** Gives back what is leased and not begun. */
  #emptyLane(lane: Lane): void {
    this.#ready.delete(lane);
    this.#delayed.delete(lane);
    lane.seenHints = lane.moreHints;
    const items = this.#lanes.takeAll(lane);
    if (items.length > 0) this.#lease.giveBack(items.map(({ id }) => id));
  }
}
