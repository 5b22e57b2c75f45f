import { createHmac } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import {
  type AttemptMetrics,
  type Clock,
  type EgressSender,
  isSuccess,
  type Logger,
  maskUrlAndQuery,
  type Outbox,
  type Outcome,
  type Random,
  repeatJob,
} from '@plinth/kernel';
import { type EventBundle, eventId, readEventId, thinEvent } from '../../model/events/event.js';
import {
  type EventDestination,
  PING_TYPE,
  wantsEvent,
} from '../../model/events/event-destination.js';
import { tenantKey } from '../../model/platform/tenant.js';
import { type CommitQueue, EVENTS_COMMITTED, WriteSet } from '../../storage/commit-queue.js';
import type {
  AttemptRecord,
  DestinationStore,
  PendingDelivery,
} from '../../storage/destination-store.js';
import type { EventStore } from '../../storage/event-store.js';
import type { EventDestinations } from '../events/event-destinations.js';

interface DeliveryDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly outbox: Outbox;
  readonly commits: CommitQueue;
  readonly events: EventStore;
  readonly store: DestinationStore;
  readonly destinations: EventDestinations;
  readonly sender: EgressSender;
  readonly metrics: AttemptMetrics;
  readonly headerPrefixes: readonly string[];
}

/** Delays before retries; the last attempt is made three days after the first. */
const DELAYS_SEC = [5, 30, 120, 600, 3600, 10_800, 21_600, 43_200, 86_400, 86_400] as const;
const MAX_IN_FLIGHT = 256;
/**
 * Limits per destination, platform and host, so that unresponsive receivers do not occupy all
 * slots.
 */
const MAX_IN_FLIGHT_PER = { destination: 16, tenant: 64, host: 32 } as const;
const POLL_INTERVAL_MS = 1000;
/**
 * Duration of a claim, longer than any attempt. If a node crashes, another node makes the attempt
 * after this time.
 */
const CLAIM_MS = 60_000;

/** Scope of a concurrency limit. */
type LimitKey = `${keyof typeof MAX_IN_FLIGHT_PER}:${string}`;

const kindOf = (limitKey: LimitKey) =>
  limitKey.slice(0, limitKey.indexOf(':')) as keyof typeof MAX_IN_FLIGHT_PER;

const limitKeysOf = (
  { destinationId, tenant }: PendingDelivery,
  url: string | undefined,
): readonly LimitKey[] => [
  `destination:${destinationId}`,
  `tenant:${tenant}`,
  ...(url === undefined ? [] : [`host:${new URL(url).host}` as const]),
];

/**
 * Delivers committed events to their destinations, at least once. The outbox announces committed
 * bundles, and each (event, destination) becomes a row. The row is deleted after a successful
 * response or the last attempt. Source: accounts, section 17.3.
 */
export class EventDelivery {
  readonly #deps: DeliveryDeps;
  readonly #stop = new AbortController();
  readonly #inFlight = new Map<string, Promise<void>>();
  readonly #inFlightCounts = new Map<LimitKey, number>();
  /** Destinations with due deliveries that wait for a free slot, by scope. */
  readonly #waitingFor = new Map<LimitKey, Set<string>>();
  /** Destinations that may have due deliveries, in round-robin order. */
  readonly #ready = new Set<string>();
  #isDelivering = false;
  #pollTimer: Disposable | undefined;
  /** Whether some rows may not have been checked yet. */
  #hasWork = true;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    setMaxListeners(MAX_IN_FLIGHT, this.#stop.signal); // each attempt adds one listener
    deps.outbox.subscribe('accounts_delivery', [EVENTS_COMMITTED], async ({ id, payload }) => {
      const { ids } = payload as { readonly ids: readonly string[] }; // the commit queue wrote this payload
      await this.#schedule(id, ids);
    });
  }

  start(): void {
    const { clock, log } = this.#deps;
    const job = { clock, log, name: 'event delivery', intervalMs: POLL_INTERVAL_MS };
    this.#pollTimer = repeatJob(job, () => this.#checkForDue());
  }

  async close(): Promise<void> {
    this.#pollTimer?.[Symbol.dispose]();
    this.#stop.abort();
    await Promise.allSettled(this.#inFlight.values());
  }

  /**
   * Schedules the deliveries of an announcement only once, although every node receives it and a
   * crash repeats it.
   */
  async #schedule(announcementId: string, bundleIds: readonly string[]): Promise<void> {
    const { events, clock, store, commits, destinations } = this.#deps;
    const nowMs = clock.nowMs();
    const writes = new WriteSet();
    const scheduledFor = new Set<string>();
    await destinations.catchUp();
    if (destinations.count === 0) return;
    for (const bundle of await events.findAll(bundleIds)) {
      for (const destination of destinations.listAll(bundle.tenant)) {
        for (const [index, { type, target }] of bundle.events.entries()) {
          const isPinged = type === PING_TYPE && target.id === destination.id;
          const isWanted = type !== PING_TYPE && wantsEvent(destination, type);
          if (!isPinged && !isWanted) continue;
          const event = eventId(bundle, index);
          scheduledFor.add(destination.id);
          store.putDelivery(writes, {
            id: `${event}:${destination.id}`,
            tenant: tenantKey(bundle.tenant),
            destinationId: destination.id,
            eventId: event,
            attempt: 0,
            dueMs: nowMs,
            createdMs: nowMs,
          });
        }
      }
    }
    if (writes.rows.size === 0) return;
    await commits.commit(writes.onlyOnce(`delivery:${announcementId}`, nowMs));
    this.#hasWork = true;
    for (const destinationId of scheduledFor) this.#ready.add(destinationId);
    await this.#deliverDue();
  }

  async #checkForDue(): Promise<void> {
    const { store, clock } = this.#deps;
    if (!this.#hasWork && !store.isShared) return;
    const nowMs = clock.nowMs();
    const waiting = await store.listWaitingDestinations();
    this.#hasWork = waiting.length > 0 || this.#inFlight.size > 0 || this.#ready.size > 0;
    for (const { destinationId, soonestDueMs } of waiting) {
      if (soonestDueMs <= nowMs) this.#ready.add(destinationId);
    }
    await this.#deliverDue();
  }

  /** Processes one destination after the other, starting with the destinations that waited for a slot. */
  async #deliverDue(): Promise<void> {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    try {
      while (!this.#stop.signal.aborted && this.#inFlight.size < MAX_IN_FLIGHT) {
        const [destinationId] = this.#ready;
        if (destinationId === undefined) return;
        this.#ready.delete(destinationId);
        await this.#beginDue(destinationId);
      }
    } finally {
      this.#isDelivering = false;
    }
  }

  async #beginDue(destinationId: string): Promise<void> {
    const { store, clock, destinations } = this.#deps;
    const destination = await destinations.find(destinationId);
    // Some due deliveries may already be in flight.
    const limit = 2 * MAX_IN_FLIGHT_PER.destination;
    for (const delivery of await store.listDue(destinationId, clock.nowMs(), limit)) {
      if (this.#inFlight.has(delivery.id)) continue;
      if (this.#stop.signal.aborted || this.#inFlight.size >= MAX_IN_FLIGHT) return;
      const limitKeys = limitKeysOf(delivery, destination?.url);
      const full = limitKeys.find(
        (limitKey) => this.#countAt(limitKey) >= MAX_IN_FLIGHT_PER[kindOf(limitKey)],
      );
      if (full !== undefined) {
        this.#waitingFor.set(full, (this.#waitingFor.get(full) ?? new Set()).add(destinationId));
        return;
      }
      this.#startAttempt(delivery, limitKeys);
    }
  }

  #startAttempt(delivery: PendingDelivery, limitKeys: readonly LimitKey[]): void {
    const { id, destinationId } = delivery;
    const attemptEnded = this.#attempt(delivery)
      .catch((err: unknown) => this.#deps.log.error({ err }, 'event delivery failed'))
      .finally(() => {
        this.#inFlight.delete(id);
        // Continues immediately instead of at the next poll, which reports any error.
        this.#ready.add(destinationId);
        for (const limitKey of limitKeys) this.#releaseLimit(limitKey);
        void this.#deliverDue().catch(() => {});
      });
    this.#inFlight.set(id, attemptEnded);
    for (const limitKey of limitKeys)
      this.#inFlightCounts.set(limitKey, this.#countAt(limitKey) + 1);
  }

  #releaseLimit(limitKey: LimitKey): void {
    const left = this.#countAt(limitKey) - 1;
    if (left === 0) this.#inFlightCounts.delete(limitKey);
    else this.#inFlightCounts.set(limitKey, left);
    for (const destinationId of this.#waitingFor.get(limitKey) ?? [])
      this.#ready.add(destinationId);
    this.#waitingFor.delete(limitKey);
  }

  #countAt(limitKey: LimitKey): number {
    return this.#inFlightCounts.get(limitKey) ?? 0;
  }

  async #attempt(delivery: PendingDelivery): Promise<void> {
    const { destinations, events, commits, store, clock, log } = this.#deps;
    const untilMs = clock.monotonicMs() + CLAIM_MS;
    if (!(await store.claim(delivery, clock.nowMs() + CLAIM_MS))) return;
    // After this time, another node makes the attempt.
    const maySend = (): boolean => !store.isShared || clock.monotonicMs() < untilMs;
    const destination = await destinations.find(delivery.destinationId);
    const event = destination && (await this.#eventOf(delivery, events));
    const writes = new WriteSet();
    if (destination === undefined || event === undefined) {
      await commits.commit(writes.delete('accounts_deliveries', delivery.id));
      return;
    }
    const attemptedMs = clock.nowMs();
    const sent = await this.#send(destination, delivery, { body: JSON.stringify(event), maySend });
    const isTaken = isSuccess(sent.outcome);
    // The attempt is repeated at the next start or by another node.
    if ((this.#stop.signal.aborted || !maySend()) && !isTaken) return;
    store.putAttempt(writes, this.#recordOf(delivery, { ...sent, attemptedMs }));
    const delaySec = DELAYS_SEC[delivery.attempt];
    if (isTaken || delaySec === undefined) {
      if (!isTaken)
        log.warn(
          { destination: destination.id, event: delivery.eventId },
          'event delivery abandoned',
        );
      writes.delete('accounts_deliveries', delivery.id);
    } else {
      const { attempt } = delivery;
      const dueMs = clock.nowMs() + delaySec * 1000;
      store.putDelivery(writes, { ...delivery, attempt: attempt + 1, dueMs });
    }
    await commits.commit(writes);
    this.#hasWork = true;
  }

  async #send(
    { id, url, secret }: EventDestination,
    { eventId: event, attempt }: PendingDelivery,
    { body, maySend }: { readonly body: string; readonly maySend: () => boolean },
  ): Promise<{ readonly outcome: Outcome; readonly durationMs: number }> {
    const { clock, sender, metrics, log } = this.#deps;
    const headers = this.#headers(secret, body);
    const startMs = clock.monotonicMs();
    const request = { url: new URL(url), headers, body: Buffer.from(body) };
    const outcome = await sender.send(request, { signal: this.#stop.signal, maySend });
    const durationMs = clock.monotonicMs() - startMs;
    if (this.#stop.signal.aborted && !isSuccess(outcome)) return { outcome, durationMs };
    metrics.observe(outcome, durationMs);
    if (!isSuccess(outcome)) {
      const why =
        outcome.kind === 'answered' ? { status: outcome.statusCode } : { error: outcome.error };
      log.info(
        {
          destination: id,
          event,
          attempt,
          url: maskUrlAndQuery(url),
          outcome: outcome.kind,
          ...why,
          durationMs: Math.round(durationMs),
        },
        'event delivery attempt failed',
      );
    }
    return { outcome, durationMs };
  }

  #recordOf(
    { destinationId, eventId: event, attempt }: PendingDelivery,
    result: {
      readonly outcome: Outcome;
      readonly durationMs: number;
      readonly attemptedMs: number;
    },
  ): AttemptRecord {
    const { outcome, durationMs, attemptedMs } = result;
    return {
      id: this.#deps.random.uuidV7(),
      destinationId,
      eventId: event,
      attempt: attempt + 1,
      attemptedMs,
      durationMs,
      outcome: outcome.kind,
      status: outcome.statusCode,
      error: outcome.kind === 'answered' ? undefined : outcome.error,
    };
  }

  async #eventOf(
    { eventId: id, tenant }: PendingDelivery,
    events: EventStore,
  ): Promise<Record<string, unknown> | undefined> {
    const read = readEventId(id, tenant.endsWith(':live'));
    if (read === undefined) return undefined;
    const [bundle]: readonly EventBundle[] = await events.findAll([read.bundleId]);
    const event = bundle?.events[read.index];
    return bundle && event && thinEvent(bundle, read.index, event);
  }

  #headers(secret: string, body: string): Record<string, string> {
    const second = Math.floor(this.#deps.clock.nowMs() / 1000);
    const hmac = createHmac('sha256', secret).update(`${second}.${body}`).digest('hex');
    const signature = `t=${second},v1=${hmac}`;
    return {
      'content-type': 'application/json',
      'user-agent': 'Api/1.0',
      ...Object.fromEntries(
        this.#deps.headerPrefixes.map((prefix) => [`${prefix}-Signature`, signature]),
      ),
    };
  }
}
