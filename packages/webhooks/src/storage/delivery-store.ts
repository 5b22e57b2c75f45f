import { RawStatements, type RelationalStore, type SqlConnection } from '@plinth/kernel';
import type {
  DeliveryCount,
  DeliveryDetail,
  DeliveryFigures,
  DeliveryFilter,
  DeliverySummary,
} from '../model/delivery.js';
import { idAt } from '../model/time-ids.js';
import { purgeCounts, readCounts, readTotalCounts } from './delivery-counts.js';
import { DeliveryScanner } from './delivery-scan.js';
import { decodePayload, type PayloadEncoding } from './queue/payload-codec.js';

interface DeliveryRow {
  id: number;
  app_id: number;
  guid: string;
  delivered_ms: number;
  redelivery: number;
  duration_ms: number;
  status: string;
  status_code: number;
  event: string;
  action: string | null;
  installation_id: number | null;
  repository_id: number | null;
  throttled_ms: number | null;
  attempt_no: number | null;
}

interface DetailRow extends DeliveryRow {
  url: string;
  request_headers: string;
  response_headers: string | null;
  response_body: Uint8Array | null;
  response_truncated: number | null;
  error: string | null;
  encoding: PayloadEncoding | null;
  payload: Uint8Array | null;
}

export interface DeliveryPage {
  /** Records, newest first. */
  readonly items: readonly DeliverySummary[];
  /** First record of the next page, with older records. */
  readonly nextId: number | undefined;
  /** First record of the previous page, with newer records. */
  readonly previousId: number | undefined;
}

const SUMMARY = `d.id, d.app_id, d.guid, d.delivered_ms, d.redelivery, d.duration_ms, d.status, d.status_code,
  d.event, d.action, d.installation_id, d.repository_id, d.throttled_ms, d.attempt_no`;

/** Reads and deletes delivery records. */
export class DeliveryStore {
  readonly #store: RelationalStore;
  readonly #sql: RawStatements;
  readonly #scanner: DeliveryScanner;

  constructor(store: RelationalStore) {
    this.#store = store;
    this.#sql = new RawStatements(store.system);
    this.#scanner = new DeliveryScanner(this.#sql, this.#reader, store.system === 'sqlite');
  }

  /**
   * @param fromId first record of the page, or the next older record if it was deleted; undefined for the newest page.
   */
  async list(
    appId: number,
    filter: DeliveryFilter,
    fromId: number | undefined,
    limit: number,
  ): Promise<DeliveryPage> {
    const older = await this.#scanner.find<DeliveryRow>({
      appId,
      filter,
      columns: SUMMARY,
      direction: 'older',
      fromId,
      toId: undefined,
      limit: limit + 1,
    });
    const newer =
      fromId === undefined
        ? []
        : await this.#scanner.find<{ readonly id: number }>({
            appId,
            filter,
            columns: 'd.id',
            direction: 'newer',
            fromId: fromId + 1,
            toId: undefined,
            limit,
          });
    return {
      items: older.slice(0, limit).map(toSummary),
      nextId: older[limit]?.id,
      previousId: newer.at(-1)?.id,
    };
  }

  async get(appId: number, id: number): Promise<DeliveryDetail | undefined> {
    const [row] = await this.#sql.all<DetailRow>(
      this.#reader,
      `select ${SUMMARY}, t.url, t.request_headers, t.response_headers, t.response_body,
          t.response_truncated, t.error, e.encoding, e.payload
        from webhooks_deliveries d
        join webhooks_delivery_details t on t.id = d.id
        left join webhooks_events e on e.guid = d.guid
        where d.app_id = ? and d.id = ?`,
      [appId, id],
    );
    return row === undefined ? undefined : await toDetail(row);
  }

  /** Returns the event of a record and whether its payload still exists; used for redelivery. */
  async findEvent(
    appId: number,
    id: number,
  ): Promise<{ readonly guid: string; readonly hasPayload: boolean } | undefined> {
    const [row] = await this.#sql.all<{ guid: string; has_payload: number }>(
      this.#reader,
      `select d.guid, case when e.payload is null then 0 else 1 end as has_payload
        from webhooks_deliveries d left join webhooks_events e on e.guid = d.guid
        where d.app_id = ? and d.id = ?`,
      [appId, id],
    );
    return row && { guid: row.guid, hasPayload: row.has_payload === 1 };
  }

  /**
   * Returns events that have a matching record and no later success, each with its first such
   * record.
   * At most `limit` events, oldest first.
   */
  async findToRedrive(
    appId: number,
    filter: DeliveryFilter,
    range: { readonly fromId: number; readonly toId: number },
    limit: number,
  ): Promise<readonly { readonly id: number; readonly guid: string }[]> {
    return await this.#scanner.find<{ readonly id: number; readonly guid: string }>({
      appId,
      filter,
      columns: 'd.id, d.guid',
      direction: 'newer',
      ...range,
      limit,
      isToRedrive: true,
    });
  }

  /** Returns statistics about the newest attempts that ended since `sinceMs`, at most `limit` of them. */
  async figures(appId: number, sinceMs: number, limit: number): Promise<DeliveryFigures> {
    return await this.#scanner.figures(appId, sinceMs, limit);
  }

  /** Returns the counts of all these apps in buckets from `sinceMs`, the start of a bucket, with one statement. */
  async counts(appIds: readonly number[], sinceMs: number): Promise<readonly DeliveryCount[]> {
    return await readCounts(this.#sql, this.#reader, appIds, sinceMs);
  }

  /** Returns the counts of all apps together in buckets from `sinceMs`, the start of a bucket. */
  async totalCounts(sinceMs: number): Promise<readonly Omit<DeliveryCount, 'appId'>[]> {
    return await readTotalCounts(this.#sql, this.#reader, sinceMs);
  }

  /** Returns the greatest record id of the app; 0 if it has none. */
  async lastId(appId: number): Promise<number> {
    const [row] = await this.#sql.all<{ readonly id: number | null }>(
      this.#reader,
      'select max(id) as id from webhooks_deliveries where app_id = ?',
      [appId],
    );
    return row?.id ?? 0;
  }

  /**
   * Deletes records, events, keys and counts older than `beforeMs`, at most `limit` of each, so that the
   * transaction stays short.
   * @returns whether more may remain.
   */
  async purge(beforeMs: number, limit: number): Promise<boolean> {
    const old =
      this.#store.system === 'sqlite'
        ? `select id from webhooks_deliveries where id < ? order by id limit ?`
        : `select id from webhooks_deliveries where delivered_ms < ? order by delivered_ms limit ?`;
    const bound = this.#store.system === 'sqlite' ? idAt(beforeMs) : beforeMs;
    return await this.#store.transaction<never, boolean>(async (tx) => {
      const rows = await this.#sql.all<{ id: number }>(tx, old, [bound, limit]);
      const ids = JSON.stringify(rows.map(({ id }) => id));
      const isOneOf = this.#sql.isOneOfNumbers('id');
      await this.#sql.run(tx, `delete from webhooks_delivery_details where ${isOneOf}`, [ids]);
      await this.#sql.run(tx, `delete from webhooks_deliveries where ${isOneOf}`, [ids]);
      const events = await this.#sql.run(
        tx,
        `delete from webhooks_events where guid in (
          select e.guid from webhooks_events e where e.used_ms < ?
            and not exists (select 1 from webhooks_queue q where q.guid = e.guid)
          order by e.used_ms limit ?)`,
        [beforeMs, limit],
      );
      const keys = await this.#sql.run(
        tx,
        `delete from webhooks_idempotency where key in (
          select key from webhooks_idempotency where accepted_ms < ? order by accepted_ms limit ?)`,
        [beforeMs, limit],
      );
      const counts = await purgeCounts(this.#sql, tx, beforeMs, limit);
      return Math.max(rows.length, events, keys, counts) === limit;
    });
  }

  /**
   * Deletes payloads and response bodies from before `beforeMs` and keeps the records.
   * @param afterId result of the previous call. @returns the last processed id; undefined at the
   *   end.
   */
  async purgePayloads(
    beforeMs: number,
    afterId: number,
    limit: number,
  ): Promise<number | undefined> {
    return await this.#store.transaction<never, number | undefined>(async (tx) => {
      await this.#sql.run(
        tx,
        `update webhooks_events set payload = null where guid in (
          select e.guid from webhooks_events e
          where e.used_ms < ? and e.payload is not null
            and not exists (select 1 from webhooks_queue q where q.guid = e.guid)
          order by e.used_ms limit ?)`,
        [beforeMs, limit],
      );
      const rows = await this.#sql.all<{ id: number }>(
        tx,
        'select id from webhooks_deliveries where id > ? and delivered_ms < ? order by id limit ?',
        [afterId, beforeMs, limit],
      );
      await this.#sql.run(
        tx,
        `update webhooks_delivery_details set response_body = null
          where ${this.#sql.isOneOfNumbers('id')}`,
        [JSON.stringify(rows.map(({ id }) => id))],
      );
      return rows.length === limit ? rows.at(-1)?.id : undefined;
    });
  }

  get #reader(): SqlConnection {
    return this.#store.reader<never>();
  }
}

function toSummary(row: DeliveryRow): DeliverySummary {
  return {
    id: row.id,
    appId: row.app_id,
    guid: row.guid,
    deliveredMs: row.delivered_ms,
    redelivery: row.redelivery === 1,
    durationMs: row.duration_ms,
    status: row.status,
    status_code: row.status_code,
    event: row.event,
    action: row.action ?? undefined,
    installation_id: row.installation_id ?? undefined,
    repository_id: row.repository_id ?? undefined,
    throttledSinceMs: row.throttled_ms ?? undefined,
    attemptNo: row.attempt_no ?? undefined,
  };
}

async function toDetail(row: DetailRow): Promise<DeliveryDetail> {
  const { encoding, payload } = row;
  return {
    ...toSummary(row),
    url: row.url,
    requestHeaders: JSON.parse(row.request_headers) as Record<string, string>, // `QueueStore` wrote this JSON
    requestPayload:
      encoding === null || payload === null
        ? undefined
        : await decodePayload({ encoding, bytes: payload }),
    responseHeaders:
      row.response_headers === null
        ? undefined
        : (JSON.parse(row.response_headers) as Record<string, string>), // `QueueStore` wrote this JSON
    responseBody: row.response_body ?? undefined,
    isResponseTruncated: row.response_truncated === null ? undefined : row.response_truncated === 1,
    error: row.error ?? undefined,
  };
}
