import type { RawStatements, SqlConnection, StatementValue } from '@plinth/kernel';
import type { DeliveryFigures, DeliveryFilter } from '../model/delivery.js';
import { idAt } from '../model/time-ids.js';

/**
 * Maximum number of records per statement when no index covers the filter. Other statements can run
 * between two steps.
 */
const STEP_COUNT = 10_000;
/**
 * Tolerance between the id and the timestamp of a record: an attempt lasts seconds, and its id is
 * assigned at the end. The tolerance also covers clock corrections.
 */
const ID_SLACK_MS = 3_600_000;

export interface Scan {
  readonly appId: number;
  readonly filter: DeliveryFilter;
  /** Columns of table `d`. */
  readonly columns: string;
  readonly direction: 'older' | 'newer';
  /** Range of ids, both ends inclusive. */
  readonly fromId: number | undefined;
  readonly toId: number | undefined;
  readonly limit: number;
  /** For redelivery: one record per event that still has its payload and no later success. */
  readonly isToRedrive?: boolean;
}

interface Conditions {
  readonly texts: readonly string[];
  readonly values: readonly StatementValue[];
}

/** Finds records of one app in ascending or descending id order. */
export class DeliveryScanner {
  readonly #sql: RawStatements;
  readonly #on: SqlConnection;
  readonly #isByTime: boolean;

  /** @param isByTime whether ids are derived from the time at which records were written. */
  constructor(sql: RawStatements, on: SqlConnection, isByTime: boolean) {
    this.#sql = sql;
    this.#on = on;
    this.#isByTime = isByTime;
  }

  async find<R extends { readonly id: number }>(scan: Scan): Promise<readonly R[]> {
    const { filter, direction, limit } = scan;
    const isOlder = direction === 'older';
    const conditions = toConditions(filter);
    let [low, high] = isOlder ? [scan.toId, scan.fromId] : [scan.fromId, scan.toId];
    [low, high] = await this.#narrowed(filter, low, high);
    if (isIndexed(filter)) return await this.#read<R>(scan, conditions, low, high, limit);
    const found: R[] = [];
    for (;;) {
      const edge = await this.#edge(scan, low, high);
      const [from, to] = isOlder ? [edge ?? low, high] : [low, edge ?? high];
      const remaining = limit - found.length;
      found.push(...(await this.#read<R>(scan, conditions, from, to, remaining)));
      if (edge === undefined || found.length >= limit) return found;
      if (isOlder) high = edge - 1;
      else low = edge + 1;
    }
  }

  /**
   * Counts the attempts of an app that ended since `sinceMs`, at most the newest `limit` of them.
   * An index covers the range, so that at most `limit` records are read.
   */
  async figures(appId: number, sinceMs: number, limit: number): Promise<DeliveryFigures> {
    const before = await this.#idBefore(sinceMs);
    const [row] = await this.#sql.all<{ count: number; failed: number; p95_ms: number | null }>(
      this.#on,
      `with recent as (select d.status_code, d.duration_ms from webhooks_deliveries d
          where d.app_id = ? and d.id > ? order by d.id desc limit ?)
        select count(*) as count,
          coalesce(sum(case when status_code between 200 and 299 then 0 else 1 end), 0) as failed,
          (select duration_ms from recent order by duration_ms limit 1 offset (
            select case when count(*) = 0 then 0 else (95 * count(*) + 99) / 100 - 1 end
            from recent)) as p95_ms
        from recent`,
      [appId, before ?? 0, limit],
    );
    const { count = 0, failed = 0, p95_ms } = row ?? {};
    return { count, failedCount: failed, p95Ms: p95_ms ?? undefined };
  }

  async #read<R>(
    { appId, columns, direction, isToRedrive = false }: Scan,
    conditions: Conditions,
    low: number | undefined,
    high: number | undefined,
    limit: number,
  ): Promise<readonly R[]> {
    const all = [conditions, between(low, high), isToRedrive ? toRedrive(conditions) : NONE];
    const where = ['d.app_id = ?', ...all.flatMap(({ texts }) => texts)];
    return await this.#sql.all<R>(
      this.#on,
      `select ${columns} from webhooks_deliveries d where ${where.join(' and ')}
        order by d.id ${direction === 'older' ? 'desc' : 'asc'} limit ?`,
      [appId, ...all.flatMap(({ values }) => values), limit],
    );
  }

  /** Returns the id of the last record of a step; undefined when fewer than `STEP_COUNT` remain. */
  async #edge(
    { appId, direction }: Scan,
    low: number | undefined,
    high: number | undefined,
  ): Promise<number | undefined> {
    const { texts, values } = between(low, high);
    const [row] = await this.#sql.all<{ readonly id: number }>(
      this.#on,
      `select d.id from webhooks_deliveries d where ${['d.app_id = ?', ...texts].join(' and ')}
        order by d.id ${direction === 'older' ? 'desc' : 'asc'} limit 1 offset ${STEP_COUNT - 1}`,
      [appId, ...values],
    );
    return row?.id;
  }

  /** Narrows the id range to the time range of the filter. */
  async #narrowed(
    { sinceMs, untilMs }: DeliveryFilter,
    low: number | undefined,
    high: number | undefined,
  ): Promise<[number | undefined, number | undefined]> {
    const [least, most] = [
      sinceMs === undefined ? undefined : await this.#idBefore(sinceMs - ID_SLACK_MS),
      untilMs === undefined ? undefined : await this.#idAfter(untilMs + ID_SLACK_MS),
    ];
    return [
      least === undefined ? low : Math.max(low ?? least, least),
      most === undefined ? high : Math.min(high ?? most, most),
    ];
  }

  async #idBefore(timeMs: number): Promise<number | undefined> {
    return this.#isByTime ? idAt(timeMs) : await this.#idBeside('<', 'desc', timeMs);
  }

  async #idAfter(timeMs: number): Promise<number | undefined> {
    return this.#isByTime ? idAt(timeMs) : await this.#idBeside('>', 'asc', timeMs);
  }

  async #idBeside(
    comparison: '<' | '>',
    order: 'asc' | 'desc',
    timeMs: number,
  ): Promise<number | undefined> {
    const [row] = await this.#sql.all<{ readonly id: number }>(
      this.#on,
      `select id from webhooks_deliveries where delivered_ms ${comparison} ?
        order by delivered_ms ${order} limit 1`,
      [timeMs],
    );
    return row?.id;
  }
}

const NONE: Conditions = { texts: [], values: [] };

function toRedrive(conditions: Conditions): Conditions {
  const sameEvent = (name: string): string =>
    `not exists (select 1 from webhooks_deliveries ${name}
      where ${name}.app_id = d.app_id and ${name}.guid = d.guid`;
  const earlier = conditions.texts.map((text) => ` and ${text.replaceAll('d.', 'f.')}`).join('');
  return {
    texts: [
      'exists (select 1 from webhooks_events e where e.guid = d.guid and e.payload is not null)',
      `${sameEvent('s')} and s.id > d.id and s.status_code < 400)`,
      `${sameEvent('f')} and f.id < d.id${earlier})`,
    ],
    values: conditions.values,
  };
}

/** Whether an index covers the filter, or the filter matches nearly all records. */
function isIndexed({
  event,
  action,
  installation_id,
  repository_id,
  ...rest
}: DeliveryFilter): boolean {
  const isByValue = [event, action, installation_id, repository_id].some(
    (value) => value !== undefined,
  );
  return rest.guid !== undefined || (!isByValue && rest.status !== 'success');
}

function between(low: number | undefined, high: number | undefined): Conditions {
  return {
    texts: [
      ...(low === undefined ? [] : ['d.id >= ?']),
      ...(high === undefined ? [] : ['d.id <= ?']),
    ],
    values: [low, high].filter((id) => id !== undefined),
  };
}

function toConditions(filter: DeliveryFilter): Conditions {
  const texts: string[] = [];
  const values: StatementValue[] = [];
  const add = (condition: string, value?: StatementValue): void => {
    texts.push(condition);
    if (value !== undefined) values.push(value);
  };
  // Uses literals instead of parameters, so that the planner can use the partial indexes.
  if (filter.redelivery !== undefined) add(`d.redelivery = ${filter.redelivery ? 1 : 0}`);
  // GitHub's filter includes redirects, although such a delivery fails and is retried.
  if (filter.status === 'success') add('d.status_code between 200 and 399');
  if (filter.status === 'failure') add('d.status_code >= 400 and d.status_code <= 599');
  if (filter.event !== undefined) add('d.event = ?', filter.event);
  if (filter.action !== undefined) add('d.action = ?', filter.action);
  if (filter.guid !== undefined) add('d.guid = ?', filter.guid);
  if (filter.installation_id !== undefined) add('d.installation_id = ?', filter.installation_id);
  if (filter.repository_id !== undefined) add('d.repository_id = ?', filter.repository_id);
  if (filter.sinceMs !== undefined) add('d.delivered_ms >= ?', filter.sinceMs);
  if (filter.untilMs !== undefined) add('d.delivered_ms <= ?', filter.untilMs);
  return { texts, values };
}
