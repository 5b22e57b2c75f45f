import type { SqlConnection, Statement, StatementValue } from '@plinth/kernel';
import type { AttemptRecord } from '../../model/delivery.js';
import { isRetryOrRedelivery, type QueueItem } from '../../model/event.js';
import type { QueueSession } from './queue-session.js';

export interface RecordToWrite {
  readonly id: number;
  readonly item: RecordedItem;
  readonly record: AttemptRecord;
}

/** Members of a queue item that its record contains. */
export type RecordedItem = Pick<
  QueueItem,
  'appId' | 'guid' | 'kind' | 'attemptNo' | 'event' | 'action' | 'installation_id' | 'repository_id'
>;

const DELIVERY_COLUMNS = [
  'id',
  'app_id',
  'guid',
  'delivered_ms',
  'redelivery',
  'duration_ms',
  'status',
  'status_code',
  'event',
  'action',
  'installation_id',
  'repository_id',
  'throttled_ms',
  'attempt_no',
];
const DETAIL_COLUMNS = [
  'id',
  'url',
  'request_headers',
  'response_headers',
  'response_body',
  'error',
  'response_truncated',
];

export function recordInsertion(
  { sql }: QueueSession,
  records: readonly RecordToWrite[],
): Statement[] {
  return [
    ...sql.insertion('webhooks_deliveries', DELIVERY_COLUMNS, records.map(summaryRow)),
    ...sql.insertion('webhooks_delivery_details', DETAIL_COLUMNS, records.map(detailRow)),
  ];
}

type Recorded = Pick<RecordToWrite, 'item' | 'record'>;

/**
 * Finds attempts that already have a record. No two attempts of an event have the same start time
 * and duration.
 */
export async function findRecords(
  { sql }: QueueSession,
  tx: SqlConnection,
  attempts: readonly Recorded[],
): Promise<(attempt: Recorded) => boolean> {
  const rows = await sql.all<{
    app_id: number;
    guid: string;
    delivered_ms: number;
    duration_ms: number;
  }>(
    tx,
    `select app_id, guid, delivered_ms, duration_ms from webhooks_deliveries
      where ${sql.isOneOfNumbers('app_id')} and ${sql.isOneOf('guid')}`,
    [
      JSON.stringify([...new Set(attempts.map(({ item }) => item.appId))]),
      JSON.stringify(attempts.map(({ item }) => item.guid)),
    ],
  );
  const nameOf = (...parts: readonly (string | number)[]): string => parts.join(' ');
  const stored = new Set(
    rows.map((row) => nameOf(row.app_id, row.guid, row.delivered_ms, row.duration_ms)),
  );
  return ({ item, record }) =>
    stored.has(nameOf(item.appId, item.guid, record.deliveredMs, record.durationMs));
}

function summaryRow({ id, item, record }: RecordToWrite): StatementValue[] {
  return [
    id,
    item.appId,
    item.guid,
    record.deliveredMs,
    isRetryOrRedelivery(item) ? 1 : 0,
    record.durationMs,
    record.status,
    record.status_code,
    item.event,
    item.action ?? null,
    item.installation_id ?? null,
    item.repository_id ?? null,
    record.throttledSinceMs ?? null,
    item.attemptNo,
  ];
}

function detailRow({ id, record }: RecordToWrite): StatementValue[] {
  const { responseHeaders, isResponseTruncated } = record;
  return [
    id,
    record.url,
    JSON.stringify(record.requestHeaders ?? null),
    responseHeaders === undefined ? null : JSON.stringify(responseHeaders),
    record.responseBody ?? null,
    record.error ?? null,
    isResponseTruncated === undefined ? null : Number(isResponseTruncated),
  ];
}
