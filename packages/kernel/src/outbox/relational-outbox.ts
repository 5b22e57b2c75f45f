import { type Selectable, sql, type Transaction } from 'kysely';
import { repeatJob } from '../clock/repeat-job.js';
import { invariant } from '../errors/invariant.js';
import type { NewEvent, Outbox, OutboxEvent } from './outbox.js';
import type { OutboxOptions } from './outbox-options.js';
import { OUTBOX_MIGRATIONS, type OutboxTables } from './outbox-tables.js';
import { Subscription } from './subscription.js';

const RETENTION_CHECK_MS = 60_000;
const REMOVED_PER_CHECK = 5_000;
const DAY_MS = 86_400_000;
/** The interval at which the last run of a subscriber is recorded. */
const SEEN_INTERVAL_MS = 3_600_000;

type Position = Selectable<OutboxTables['kernel_outbox_positions']>;

/** Events in the table `kernel_outbox`, positions of the subscribers in `kernel_outbox_positions`. */
export class RelationalOutbox implements Outbox {
  readonly #options: OutboxOptions;
  readonly #subscriptions = new Map<string, Subscription>();
  #retention: Disposable | undefined;
  #seenMs = 0;
  #state: 'new' | 'started' | 'closed' = 'new';

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  async publish<DB>(tx: Transaction<DB>, ...events: readonly NewEvent[]): Promise<void> {
    const { clock, random, store } = this.#options;
    // Numbers must follow the commit order; otherwise a relay would skip an event committed after a higher number.
    if (store.system === 'postgresql') {
      await sql`select pg_advisory_xact_lock(7270115)`.execute(tx);
    }
    const rows = events.map(({ type, payload }) => ({
      id: random.uuidV7(),
      type,
      created_ms: clock.nowMs(),
      payload: JSON.stringify(payload ?? null),
    }));
    // The table exists in every store, even if the publisher's type does not list it.
    await (tx as Transaction<unknown>)
      .withTables<OutboxTables>()
      .insertInto('kernel_outbox')
      .values(rows)
      .execute();
    store.onCommit(tx, () => {
      for (const subscription of this.#subscriptions.values()) {
        if (events.some(({ type }) => subscription.takes(type))) subscription.wake();
      }
    });
  }

  subscribe(
    name: string,
    types: readonly string[],
    handle: (event: OutboxEvent) => Promise<void>,
  ): void {
    invariant(this.#state === 'new', 'subscribe must be called before start');
    invariant(!this.#subscriptions.has(name), `subscriber ${name} is already registered`);
    this.#subscriptions.set(name, new Subscription({ ...this.#options, name, types, handle }));
  }

  /** Creates the tables. May be called before `start`, so that services share the commit. */
  async prepare(): Promise<void> {
    await this.#options.store.migrate('kernel_outbox', OUTBOX_MIGRATIONS);
  }

  async start(): Promise<void> {
    invariant(this.#state === 'new', 'start must be called only once');
    this.#state = 'started';
    await this.prepare();
    this.#seenMs = this.#options.clock.nowMs();
    // Started concurrently, so that their writes share a commit.
    const subscriptions = [...this.#subscriptions.values()];
    await Promise.all([this.#noteUnseen(), ...subscriptions.map((each) => each.start())]);
    const { clock, log } = this.#options;
    const job = { clock, log, name: 'outbox retention', intervalMs: RETENTION_CHECK_MS };
    this.#retention = repeatJob(job, async () => {
      await this.#noteSeen();
      await this.#options.leases.withLease('outbox-retention', () => this.removeOld());
    });
  }

  /**
   * Removes events in batches, once all subscribers have received or passed them and the retention has elapsed. An
   * inactive subscriber counts until it is dropped.
   */
  async removeOld(): Promise<void> {
    const { store, clock, retentionMs = DAY_MS, forgetAfterMs = 30 * DAY_MS } = this.#options;
    const goneMs = clock.nowMs() - forgetAfterMs;
    const left = await store.transaction<OutboxTables, readonly Position[]>(async (tx) => {
      const positions = await tx.selectFrom('kernel_outbox_positions').selectAll().execute();
      const waiting = positions.filter(({ seen_ms }) => seen_ms >= goneMs);
      const slowest = Math.min(Number.MAX_SAFE_INTEGER, ...waiting.map(({ position }) => position));
      const old = tx
        .selectFrom('kernel_outbox')
        .select('seq')
        .where('seq', '<=', slowest)
        .where('created_ms', '<', clock.nowMs() - retentionMs)
        .orderBy('seq')
        .limit(REMOVED_PER_CHECK);
      const removed = await tx
        .deleteFrom('kernel_outbox')
        .where('seq', 'in', old)
        .returning('seq')
        .execute();
      const last = Math.max(0, ...removed.map(({ seq }) => seq));
      return positions.filter(({ seen_ms, position }) => seen_ms < goneMs && position < last);
    });
    for (const { subscriber, seen_ms } of left) {
      this.#options.onSubscriberLeftBehind?.({ subscriber, lastSeenMs: seen_ms });
    }
  }

  /** Returns the age of the oldest undelivered event of each subscriber of this node; 0 when there is none. */
  async oldestWaitingMs(): Promise<ReadonlyMap<string, number>> {
    if (this.#state !== 'started') return new Map();
    const nowMs = this.#options.clock.nowMs();
    const ages = [...this.#subscriptions].map(async ([name, subscription]) => {
      const [first] = await subscription.waiting(1);
      return [name, first === undefined ? 0 : Math.max(0, nowMs - first.createdMs)] as const;
    });
    return new Map(await Promise.all(ages));
  }

  /** Sets the time of positions from earlier versions, so that they are kept for the full period. */
  async #noteUnseen(): Promise<void> {
    const { store, clock } = this.#options;
    await store.transaction<OutboxTables, void>(async (tx) => {
      await tx
        .updateTable('kernel_outbox_positions')
        .set({ seen_ms: clock.nowMs() })
        .where('seen_ms', '=', 0)
        .execute();
    });
  }

  async #noteSeen(): Promise<void> {
    const { store, clock } = this.#options;
    const nowMs = clock.nowMs();
    const names = [...this.#subscriptions.keys()];
    if (names.length === 0 || nowMs - this.#seenMs < SEEN_INTERVAL_MS) return;
    await store.transaction<OutboxTables, void>(async (tx) => {
      await tx
        .updateTable('kernel_outbox_positions')
        .set({ seen_ms: nowMs })
        .where('subscriber', 'in', names)
        .execute();
    });
    this.#seenMs = nowMs;
  }

  async close(): Promise<void> {
    this.#state = 'closed';
    this.#retention?.[Symbol.dispose]();
    await Promise.all(
      [...this.#subscriptions.values()].map((subscription) => subscription.close()),
    );
  }
}
