import { sql, type Transaction } from 'kysely';
import { invariant } from '../errors/invariant.js';
import type { Outbox, OutboxEvent } from './outbox.js';
import type { OutboxOptions } from './outbox-options.js';
import { OUTBOX_MIGRATIONS, type OutboxTables } from './outbox-tables.js';
import { Subscription } from './subscription.js';

const RETENTION_CHECK_MS = 60_000;
const REMOVED_PER_CHECK = 5_000;

/** Events in the table `kernel_outbox`, positions of the subscribers in `kernel_outbox_positions`. */
export class RelationalOutbox implements Outbox {
  readonly #options: OutboxOptions;
  readonly #subscriptions = new Map<string, Subscription>();
  #retention: Disposable | undefined;
  #state: 'new' | 'started' | 'closed' = 'new';

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  async publish<DB>(
    tx: Transaction<DB>,
    event: { readonly type: string; readonly payload: unknown },
  ): Promise<string> {
    const { clock, random, store } = this.#options;
    const id = random.uuidV7();
    // Numbers are given in the order of commits, or a relay would pass one that is committed after a greater one.
    if (store.engine === 'postgresql') {
      await sql`select pg_advisory_xact_lock(7270115)`.execute(tx);
    }
    // Whatever tables the publisher knows, this one is there as well.
    await (tx as Transaction<unknown>)
      .withTables<OutboxTables>()
      .insertInto('kernel_outbox')
      .values({
        id,
        type: event.type,
        created_ms: clock.nowMs(),
        payload: JSON.stringify(event.payload ?? null),
      })
      .execute();
    // It cannot be read before the commit; a relay that looks too early looks again.
    for (const subscription of this.#subscriptions.values()) subscription.wake();
    return id;
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

  async start(): Promise<void> {
    invariant(this.#state === 'new', 'an outbox starts once');
    this.#state = 'started';
    await this.#options.store.migrate('kernel_outbox', OUTBOX_MIGRATIONS);
    for (const subscription of this.#subscriptions.values()) await subscription.start();
    this.#retention = this.#options.clock.every(RETENTION_CHECK_MS, async () => {
      await this.#options.leases.withLease('outbox-retention', () => this.removeOld());
    });
  }

  /**
   * Removes events that every subscriber has had or passed over and that are older than the retention, some at a time.
   * A subscriber that is known from an earlier start counts, because it may come back; without any there is nobody to
   * wait for.
   */
  async removeOld(): Promise<void> {
    const { store, clock, retentionMs = 86_400_000 } = this.#options;
    await store.transaction<OutboxTables, void>(async (tx) => {
      const slowest = await tx
        .selectFrom('kernel_outbox_positions')
        .select(({ fn }) => fn.min('position').as('position'))
        .executeTakeFirst();
      const old = tx
        .selectFrom('kernel_outbox')
        .select('seq')
        .where('seq', '<=', slowest?.position ?? Number.MAX_SAFE_INTEGER)
        .where('created_ms', '<', clock.nowMs() - retentionMs)
        .orderBy('seq')
        .limit(REMOVED_PER_CHECK);
      await tx.deleteFrom('kernel_outbox').where('seq', 'in', old).execute();
    });
  }

  async close(): Promise<void> {
    this.#state = 'closed';
    this.#retention?.[Symbol.dispose]();
    await Promise.all(
      [...this.#subscriptions.values()].map((subscription) => subscription.close()),
    );
  }
}
