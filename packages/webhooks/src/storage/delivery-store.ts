import { RawStatements, type RelationalStore, type StatementValue } from '@plinth/kernel';
import type { DeliveryDetail, DeliveryFilter, DeliverySummary } from '../model/delivery.js';
import { idAt } from '../model/time-ids.js';
import { decodePayload, type PayloadEncoding } from './payload-codec.js';

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
}

interface DetailRow extends DeliveryRow {
  url: string;
  request_headers: string;
  response_headers: string | null;
  response_body: Uint8Array | null;
  error: string | null;
  encoding: PayloadEncoding | null;
  payload: Uint8Array | null;
}

export interface DeliveryPage {
  /** Newest first. */
  readonly items: readonly DeliverySummary[];
  /** First record of the following, older page. */
  readonly nextId: number | undefined;
  /** First record of the preceding, newer page. */
  readonly previousId: number | undefined;
}

const SUMMARY = `d.id, d.app_id, d.guid, d.delivered_ms, d.redelivery, d.duration_ms, d.status, d.status_code,
  d.event, d.action, d.installation_id, d.repository_id, d.throttled_ms`;

/** Reads and removes the records of attempts. */
export class DeliveryStore {
  readonly #store: RelationalStore;
  readonly #sql: RawStatements;

  constructor(store: RelationalStore) {
    this.#store = store;
    this.#sql = new RawStatements(store.engine);
  }

  /** @param fromId first record of the page, or the next older one when it is gone; undefined: the newest. */
  async list(
    appId: number,
    filter: DeliveryFilter,
    fromId: number | undefined,
    limit: number,
  ): Promise<DeliveryPage> {
    const { conditions, parameters } = toConditions(filter);
    const where = ['d.app_id = ?', ...conditions];
    const values = [appId, ...parameters];
    const from = fromId === undefined ? [] : [fromId];
    const older = await this.#sql.all<DeliveryRow>(
      this.#reader,
      `select ${SUMMARY} from webhooks_deliveries d
        where ${[...where, ...from.map(() => 'd.id <= ?')].join(' and ')}
        order by d.id desc limit ?`,
      [...values, ...from, limit + 1],
    );
    const newer =
      fromId === undefined
        ? []
        : await this.#sql.all<{ id: number }>(
            this.#reader,
            `select d.id from webhooks_deliveries d where ${[...where, 'd.id > ?'].join(' and ')}
              order by d.id limit ?`,
            [...values, fromId, limit],
          );
    return {
      items: older.slice(0, limit).map(toSummary),
      nextId: older[limit]?.id,
      previousId: newer.at(-1)?.id,
    };
  }

  async get(appId: number, id: number): Promise<DeliveryDetail | undefined> {
    const [row] = await this.#sql.all<DetailRow>(
      this.#reader,
      `select ${SUMMARY}, t.url, t.request_headers, t.response_headers, t.response_body, t.error,
          e.encoding, e.payload
        from webhooks_deliveries d
        join webhooks_delivery_details t on t.id = d.id
        left join webhooks_events e on e.guid = d.guid
        where d.app_id = ? and d.id = ?`,
      [appId, id],
    );
    return row === undefined ? undefined : await toDetail(row);
  }

  /** For redelivery: whose record it is, and whether its payload is still there. */
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
   * Events with a record that fits, without those that have been delivered since; at most `limit` of them, in the
   * order of their guids after `afterGuid`.
   */
  async findEventsToRedrive(
    appId: number,
    filter: DeliveryFilter,
    afterGuid: string,
    limit: number,
  ): Promise<readonly string[]> {
    const { conditions, parameters } = toConditions(filter);
    const rows = await this.#sql.all<{ guid: string }>(
      this.#reader,
      `select distinct d.guid from webhooks_deliveries d
        join webhooks_events e on e.guid = d.guid and e.payload is not null
        where ${['d.app_id = ?', 'd.guid > ?', ...conditions].join(' and ')}
          and not exists (select 1 from webhooks_deliveries s
            where s.app_id = d.app_id and s.guid = d.guid and s.id > d.id and s.status_code < 400)
        order by d.guid limit ?`,
      [appId, afterGuid, ...parameters, limit],
    );
    return rows.map(({ guid }) => guid);
  }

  /**
   * Removes what is older than `beforeMs`, at most `limit` of each kind, so that nobody waits long.
   * @returns whether there may be more.
   */
  async purge(beforeMs: number, limit: number): Promise<boolean> {
    const old =
      this.#store.engine === 'sqlite'
        ? `select id from webhooks_deliveries where id < ? order by id limit ?`
        : `select id from webhooks_deliveries where delivered_ms < ? order by delivered_ms limit ?`;
    const bound = this.#store.engine === 'sqlite' ? idAt(beforeMs) : beforeMs;
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
      return Math.max(rows.length, events, keys) === limit;
    });
  }

  /**
   * Forgets payloads and responses of before `beforeMs`, and keeps the records.
   * @param afterId where the last call stopped. @returns where this one did; undefined when it is through.
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

  get #reader(): unknown {
    return this.#store.reader<never>();
  }
}

function toConditions(filter: DeliveryFilter): {
  readonly conditions: readonly string[];
  readonly parameters: readonly StatementValue[];
} {
  const conditions: string[] = [];
  const parameters: StatementValue[] = [];
  const add = (condition: string, value?: StatementValue): void => {
    conditions.push(condition);
    if (value !== undefined) parameters.push(value);
  };
  // Written out, not as parameters, so that the partial indexes are found.
  if (filter.redelivery !== undefined) add(`d.redelivery = ${filter.redelivery ? 1 : 0}`);
  if (filter.status === 'success') add('d.status_code between 200 and 399');
  if (filter.status === 'failure') add('d.status_code >= 400 and d.status_code <= 599');
  if (filter.event !== undefined) add('d.event = ?', filter.event);
  if (filter.action !== undefined) add('d.action = ?', filter.action);
  if (filter.guid !== undefined) add('d.guid = ?', filter.guid);
  if (filter.installation_id !== undefined) add('d.installation_id = ?', filter.installation_id);
  if (filter.repository_id !== undefined) add('d.repository_id = ?', filter.repository_id);
  if (filter.sinceMs !== undefined) add('d.delivered_ms >= ?', filter.sinceMs);
  if (filter.untilMs !== undefined) add('d.delivered_ms <= ?', filter.untilMs);
  return { conditions, parameters };
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
    throttledMs: row.throttled_ms ?? undefined,
  };
}

async function toDetail(row: DetailRow): Promise<DeliveryDetail> {
  const { encoding, payload } = row;
  return {
    ...toSummary(row),
    url: row.url,
    requestHeaders: JSON.parse(row.request_headers) as Record<string, string>, // written by QueueStore
    requestPayload:
      encoding === null || payload === null
        ? undefined
        : await decodePayload({ encoding, bytes: payload }),
    responseHeaders:
      row.response_headers === null
        ? undefined
        : (JSON.parse(row.response_headers) as Record<string, string>), // as above
    responseBody: row.response_body ?? undefined,
    error: row.error ?? undefined,
  };
}
