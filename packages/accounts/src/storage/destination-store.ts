import type { RelationalStore } from '@plinth/kernel';
import { type Kysely, sql, type UpdateResult } from 'kysely';
import type { EventDestination } from '../model/events/event-destination.js';
import { tenantKey } from '../model/platform/tenant.js';
import type { AccountTables } from './account-tables.js';
import type { WriteSet } from './commit-queue.js';
import type { Encryptor } from './encryptor.js';
import { isShared } from './lock-version-store.js';

/** A pending delivery attempt. */
export interface PendingDelivery {
  readonly id: string;
  readonly tenant: string;
  readonly destinationId: string;
  readonly eventId: string;
  /** Number of completed attempts. */
  readonly attempt: number;
  readonly dueMs: number;
  readonly createdMs: number;
}

/** Result of one attempt. */
export interface AttemptRecord {
  /** The id increases with time. */
  readonly id: string;
  readonly destinationId: string;
  readonly eventId: string;
  /** Number of the attempt, starting at 1. */
  readonly attempt: number;
  readonly attemptedMs: number;
  readonly durationMs: number;
  readonly outcome: string;
  readonly status: number | undefined;
  readonly error: string | undefined;
}

export interface WaitingDestination {
  readonly destinationId: string;
  readonly soonestDueMs: number;
}

type DestinationBody = Omit<EventDestination, 'id' | 'tenant' | 'createdMs'>;

/**
 * Returns the encryption context of a URL. URLs are encrypted like secrets, because receivers often
 * put a credential in the query.
 */
const urlContext = (id: string): string => `${id}.url`;

function encryptBody(
  { secret, url, ...others }: DestinationBody,
  id: string,
  encryptor: Encryptor,
): string {
  const sealed = {
    secret: encryptor.encrypt(secret, id),
    url: encryptor.encrypt(url, urlContext(id)),
  };
  return JSON.stringify({ ...others, ...sealed });
}

function openBody(text: string, id: string, encryptor: Encryptor): DestinationBody {
  const body = JSON.parse(text) as DestinationBody; // written by `encryptBody` or an earlier version
  const url = hasEncryptedUrl(text) ? encryptor.decrypt(body.url, urlContext(id)) : body.url;
  return { ...body, url, secret: encryptor.decrypt(body.secret, id) };
}

/** Earlier versions stored plain URLs, which never start like an encrypted string. */
export const hasEncryptedUrl = (body: string): boolean => /"url":"s1\./.test(body);

/** Encrypts all secrets of a stored body again under the current key. */
export const reencryptBody = (body: string, id: string, encryptor: Encryptor): string =>
  encryptBody(openBody(body, id, encryptor), id, encryptor);

/** Event destinations and their pending deliveries. */
export class DestinationStore {
  readonly #reader: Kysely<AccountTables>;
  readonly #encryptor: Encryptor;

  readonly #store: RelationalStore;
  readonly isShared: boolean;

  constructor(store: RelationalStore, encryptor: Encryptor) {
    this.#store = store;
    this.#reader = store.reader<AccountTables>();
    this.#encryptor = encryptor;
    this.isShared = isShared(store);
  }

  /**
   * Claims an attempt for this node by postponing its due time for all other nodes.
   * @returns false if the delivery has changed in the meantime.
   */
  async claim(delivery: PendingDelivery, untilMs: number): Promise<boolean> {
    if (!this.isShared) return true;
    const { numUpdatedRows } = await this.#store.transaction<AccountTables, UpdateResult>(
      async (tx) =>
        await tx
          .updateTable('accounts_deliveries')
          .set({ due_ms: untilMs })
          .where('id', '=', delivery.id)
          .where('attempt', '=', delivery.attempt)
          .where('due_ms', '=', delivery.dueMs)
          .executeTakeFirst(),
    );
    return numUpdatedRows > 0n;
  }

  async readAll(): Promise<readonly EventDestination[]> {
    const rows = await this.#reader
      .selectFrom('accounts_destinations')
      .selectAll()
      .orderBy('created_ms')
      .orderBy('id')
      .execute();
    return rows.map((row) => {
      const body = openBody(row.body, row.id, this.#encryptor);
      const colon = row.tenant.lastIndexOf(':');
      return {
        ...body,
        id: row.id,
        tenant: { platform: row.tenant.slice(0, colon), livemode: row.tenant.endsWith(':live') },
        createdMs: Number(row.created_ms),
      };
    });
  }

  put(writes: WriteSet, destination: EventDestination): void {
    const { id, tenant, createdMs, ...body } = destination;
    writes.put('accounts_destinations', {
      id,
      tenant: tenantKey(tenant),
      created_ms: createdMs,
      body: encryptBody(body, id, this.#encryptor),
    });
  }

  putDelivery(writes: WriteSet, delivery: PendingDelivery): void {
    writes.put('accounts_deliveries', {
      id: delivery.id,
      tenant: delivery.tenant,
      destination_id: delivery.destinationId,
      event_id: delivery.eventId,
      attempt: delivery.attempt,
      due_ms: delivery.dueMs,
      created_ms: delivery.createdMs,
    });
  }

  putAttempt(writes: WriteSet, record: AttemptRecord): void {
    writes.put('accounts_attempts', {
      id: record.id,
      destination_id: record.destinationId,
      event_id: record.eventId,
      attempt: record.attempt,
      attempted_ms: record.attemptedMs,
      duration_ms: Math.round(record.durationMs),
      outcome: record.outcome,
      status: record.status ?? null,
      error: record.error ?? null,
    });
  }

  /** Newest first. */
  async listAttempts(destinationId: string, limit: number): Promise<readonly AttemptRecord[]> {
    const rows = await this.#reader
      .selectFrom('accounts_attempts')
      .selectAll()
      .where('destination_id', '=', destinationId)
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map((row) => ({
      id: row.id,
      destinationId: row.destination_id,
      eventId: row.event_id,
      attempt: row.attempt,
      attemptedMs: Number(row.attempted_ms),
      durationMs: row.duration_ms,
      outcome: row.outcome,
      status: row.status ?? undefined,
      error: row.error ?? undefined,
    }));
  }

  /** Returns the destinations that have pending deliveries, due or not. */
  async listWaitingDestinations(): Promise<readonly WaitingDestination[]> {
    // One index lookup per destination, regardless of its number of deliveries.
    const { rows } = await sql<{ destination_id: string; due_ms: number }>`
      with recursive waiting (destination_id) as (
        select min(destination_id) from accounts_deliveries
        union all
        select (select min(destination_id) from accounts_deliveries
          where destination_id > waiting.destination_id)
        from waiting where waiting.destination_id is not null)
      select destination_id, (select min(due_ms) from accounts_deliveries
        where accounts_deliveries.destination_id = waiting.destination_id) as due_ms
      from waiting where destination_id is not null`.execute(this.#reader);
    return rows.map((row) => ({
      destinationId: row.destination_id,
      soonestDueMs: Number(row.due_ms),
    }));
  }

  /** Returns the due deliveries, earliest first. */
  async listDue(
    destinationId: string,
    nowMs: number,
    limit: number,
  ): Promise<readonly PendingDelivery[]> {
    const rows = await this.#reader
      .selectFrom('accounts_deliveries')
      .selectAll()
      .where('destination_id', '=', destinationId)
      .where('due_ms', '<=', nowMs)
      .orderBy('due_ms')
      .limit(limit)
      .execute();
    return rows.map((row) => ({
      id: row.id,
      tenant: row.tenant,
      destinationId: row.destination_id,
      eventId: row.event_id,
      attempt: row.attempt,
      dueMs: Number(row.due_ms),
      createdMs: Number(row.created_ms),
    }));
  }
}
