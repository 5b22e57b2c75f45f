import type { Statement, StatementValue } from '@plinth/kernel';
import type { QueueItem } from '../../model/event.js';
import type { EventRow } from './event-rows.js';
import type { AcceptedItem } from './queue-model.js';
import type { QueueSession } from './queue-session.js';

export interface QueueRow {
  id: number;
  app_id: number;
  guid: string;
  kind: QueueItem['kind'];
  attempt_no: number;
  due_ms: number;
  ordering_key: string | null;
  throttled_ms: number | null;
  node: string | null;
}

export const QUEUE_COLUMNS = [
  'id',
  'app_id',
  'guid',
  'kind',
  'attempt_no',
  'state',
  'due_ms',
  'node',
  'ordering_key',
  'throttled_ms',
];

export function itemInsertion(session: QueueSession, items: readonly AcceptedItem[]): Statement[] {
  const rows = items.map(({ item, state }): StatementValue[] => [
    item.id,
    item.appId,
    item.guid,
    item.kind,
    item.attemptNo,
    state,
    item.dueMs,
    state === 'leased' ? (item.leaseHolder ?? null) : null,
    item.orderingKey ?? null,
    null,
  ]);
  return session.sql.bulkInsertion('webhooks_queue', QUEUE_COLUMNS, rows);
}

export function toItem(
  row: QueueRow,
  event: Omit<EventRow, 'encoding' | 'payload'>,
  payload: Uint8Array | undefined,
): QueueItem {
  return {
    id: row.id,
    leaseHolder: row.node ?? undefined, // the stored name of the lease holder
    appId: row.app_id,
    guid: row.guid,
    kind: row.kind,
    attemptNo: row.attempt_no,
    dueMs: row.due_ms,
    orderingKey: row.ordering_key ?? undefined,
    throttledSinceMs: row.throttled_ms ?? undefined,
    event: event.event,
    action: event.action ?? undefined,
    installation_id: event.installation_id ?? undefined,
    repository_id: event.repository_id ?? undefined,
    payload,
  };
}
