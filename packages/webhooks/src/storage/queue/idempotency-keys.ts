import type { SqlConnection } from '@plinth/kernel';
import type { AcceptOutcome, Idempotency, NewEvent } from './queue-model.js';
import type { QueueSession } from './queue-session.js';

/** Retention of idempotency keys: one day. Source: webhooks, section 8.1. */
export const IDEMPOTENCY_MS = 86_400_000;

/** Returns the stored responses of the last day by key. Rows may be stored for longer. */
export async function findResponses(
  session: QueueSession,
  keys: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, string>> {
  const rows = await findStored(session, session.reader, keys, nowMs);
  return new Map(rows.map(({ key, answer }) => [key, answer]));
}

const findStored = (
  session: QueueSession,
  on: SqlConnection,
  keys: readonly string[],
  nowMs: number,
) =>
  session.sql.all<{ key: string; body_hash: string; answer: string }>(
    on,
    `select key, body_hash, answer from webhooks_idempotency
      where ${session.sql.isOneOf('key')} and accepted_ms > ?`,
    [JSON.stringify(keys), nowMs - IDEMPOTENCY_MS],
  );

/**
 * Returns the events whose key was used before, with the same or with another event. Stores the
 * keys of all others.
 */
export async function checkIdempotency(
  session: QueueSession,
  tx: SqlConnection,
  batch: readonly NewEvent[],
  nowMs: number,
): Promise<ReadonlyMap<NewEvent, AcceptOutcome>> {
  const refused = new Map<NewEvent, AcceptOutcome>();
  const firstOf = new Map<string, NewEvent & { readonly idempotency: Idempotency }>();
  const later: [NewEvent, Idempotency][] = [];
  for (const one of batch) {
    const { idempotency } = one;
    if (idempotency === undefined) continue;
    if (firstOf.has(idempotency.key)) later.push([one, idempotency]);
    else firstOf.set(idempotency.key, { ...one, idempotency });
  }
  if (firstOf.size === 0) return refused;
  const fresh = await session.sql.insertReturning<{ key: string }>(
    tx,
    'webhooks_idempotency',
    ['key', 'body_hash', 'answer', 'accepted_ms'],
    [...firstOf.values()].map(({ idempotency: { key, bodyHash, response } }) => [
      key,
      bodyHash,
      response,
      nowMs,
    ]),
    `on conflict (key) do update set body_hash = excluded.body_hash, answer = excluded.answer,
        accepted_ms = excluded.accepted_ms
        where webhooks_idempotency.accepted_ms <= excluded.accepted_ms - ${IDEMPOTENCY_MS}
        returning key`,
  );
  const freshKeys = new Set(fresh.map(({ key }) => key));
  const known = await findStored(session, tx, [...firstOf.keys()], nowMs);
  const knownByKey = new Map(known.map((row) => [row.key, row]));
  const check = (one: NewEvent, { key, bodyHash }: Idempotency): void => {
    const row = knownByKey.get(key);
    refused.set(
      one,
      row?.body_hash === bodyHash
        ? { kind: 'duplicate', response: row.answer }
        : { kind: 'conflict' },
    );
  };
  for (const one of batch) {
    const key = one.idempotency?.key;
    if (key === undefined || one.idempotency === undefined) continue;
    if (firstOf.get(key)?.event === one.event && !freshKeys.has(key)) check(one, one.idempotency);
  }
  for (const [one, idempotency] of later) check(one, idempotency);
  return refused;
}
