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
/** How exactly it is noted that a subscriber runs. */
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
    // Numbers are given in the order of commits, or a relay would pass one that is committed after a greater one.
    if (store.engine === 'postgresql') {
      await sql`select pg_advisory_xact_lock(7270115)`.execute(tx);
    }
    const rows = events.map(({ type, payload }) => ({
      id: random.uuidV7(),
      type,
      created_ms: clock.nowMs(),
      payload: JSON.stringify(payload ?? null),
    }));
    // Whatever tables the publisher knows, this one is there as well.
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
    invariant(this.#state === 'new', 'subscribers come before the start');
    invariant(!this.#subscriptions.has(name), `subscriber ${name} comes once`);
    this.#subscriptions.set(name, new Subscription({ ...this.#options, name, types, handle }));
  }

  /** Makes the tables. May come before `start`, so that others share the commit. */
  async prepare(): Promise<void> {
    await this.#options.store.migrate('kernel_outbox', OUTBOX_MIGRATIONS);
  }

  async start(): Promise<void> {
    invariant(this.#state === 'new', 'an outbox starts once');
    this.#state = 'started';
    await this.prepare();
    this.#seenMs = this.#options.clock.nowMs();
    // At once: what they write is committed together.
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
   * Removes events that every subscriber has had or passed over and that are older than the retention, some at a time.
   * A subscriber of an earlier start counts as long as it may come back; without any there is nobody to wait for.
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

  /** By subscriber of this node, how long the first event that it has not had has been there; 0 when there is none. */
  async oldestWaitingMs(): Promise<ReadonlyMap<string, number>> {
    if (this.#state !== 'started') return new Map();
    const nowMs = this.#options.clock.nowMs();
    const ages = [...this.#subscriptions].map(async ([name, subscription]) => {
      const [first] = await subscription.waiting(1);
      return [name, first === undefined ? 0 : Math.max(0, nowMs - first.createdMs)] as const;
    });
    return new Map(await Promise.all(ages));
  }

  /** Positions of a time when nobody noted who was seen: what is not running now is given the whole time. */
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
