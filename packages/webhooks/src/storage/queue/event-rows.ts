import type { Statement, StatementValue } from '@plinth/kernel';
import { decodePayload, type PayloadEncoding } from './payload-codec.js';
import type { NewEvent } from './queue-model.js';
import type { QueueSession } from './queue-session.js';

export interface EventRow {
  guid: string;
  event: string;
  action: string | null;
  installation_id: number | null;
  repository_id: number | null;
  encoding: PayloadEncoding;
  payload: Uint8Array | null;
}

const EVENT_COLUMNS = [
  'guid',
  'event',
  'action',
  'installation_id',
  'repository_id',
  'encoding',
  'payload',
  'accepted_ms',
  'used_ms',
];

export function eventInsertion(session: QueueSession, batch: readonly NewEvent[]): Statement[] {
  const rows = batch
    .filter(({ targets }) => targets.length > 0)
    .map(({ event, encoded }): StatementValue[] => [
      event.guid,
      event.event,
      event.action ?? null,
      event.installation_id ?? null,
      event.repository_id ?? null,
      encoded.encoding,
      encoded.bytes,
      event.acceptedMs,
      event.acceptedMs,
    ]);
  return session.sql.bulkInsertion('webhooks_events', EVENT_COLUMNS, rows);
}

/** Extends the retention of the events' payloads to the retention of their new records. */
export const extendRetention = (
  session: QueueSession,
  guids: readonly string[],
  nowMs: number,
): Statement => ({
  text: `update webhooks_events set used_ms = ? where ${session.sql.isOneOf('guid')}`,
  parameters: [nowMs, JSON.stringify(guids)],
});

/** @param maxPayloadBytes limit on stored bytes; larger payloads are omitted. */
export async function readEvents(
  session: QueueSession,
  guids: readonly string[],
  maxPayloadBytes: number,
): Promise<
  ReadonlyMap<string, { readonly row: EventRow; readonly payload: Uint8Array | undefined }>
> {
  const rows = await session.sql.all<EventRow>(
    session.reader,
    `select guid, event, action, installation_id, repository_id, encoding,
        case when length(payload) <= ? then payload end as payload
        from webhooks_events where ${session.sql.isOneOf('guid')}`,
    [maxPayloadBytes, JSON.stringify(guids)],
  );
  const entries = rows.map(async (row) => {
    const bytes = row.payload;
    const payload =
      bytes === null ? undefined : await decodePayload({ encoding: row.encoding, bytes });
    return [row.guid, { row, payload }] as const;
  });
  return new Map(await Promise.all(entries));
}
