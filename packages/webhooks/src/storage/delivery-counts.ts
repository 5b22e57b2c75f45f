import type { RawStatements, SqlConnection } from '@plinth/kernel';
import type { DeliveryCount } from '../model/delivery.js';
import type { RecordToWrite } from './queue/record-rows.js';

/** The length of a bucket. Changing it makes stored counts unreadable. */
export const COUNT_BUCKET_MS = 900_000;

const bucketOf = (timeMs: number): number => Math.floor(timeMs / COUNT_BUCKET_MS) * COUNT_BUCKET_MS;

/**
 * Adds records to the counts of their apps. Call it last in the transaction that writes the records: the rows stay locked
 * until its end, and other nodes count the same apps.
 */
export async function countRecords(
  sql: RawStatements,
  tx: SqlConnection,
  records: readonly Pick<RecordToWrite, 'item' | 'record'>[],
): Promise<void> {
  const rows = new Map<string, [appId: number, bucketMs: number, good: number, bad: number]>();
  for (const { item, record } of records) {
    const bucketMs = bucketOf(record.deliveredMs);
    const key = `${item.appId} ${bucketMs}`;
    const row = rows.get(key) ?? [item.appId, bucketMs, 0, 0];
    rows.set(key, row);
    const isDelivered = record.status_code >= 200 && record.status_code <= 299;
    row[isDelivered ? 2 : 3] += 1;
  }
  // A fixed lock order prevents deadlocks.
  const sorted = [...rows.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  await sql.runAll(
    tx,
    sql.insertion(
      'webhooks_delivery_counts',
      ['app_id', 'bucket_ms', 'succeeded', 'failed'],
      sorted,
      `on conflict (app_id, bucket_ms) do update set
        succeeded = webhooks_delivery_counts.succeeded + excluded.succeeded,
        failed = webhooks_delivery_counts.failed + excluded.failed`,
    ),
  );
}

/** Returns the counts of the apps in buckets from `sinceMs`, the start of a bucket. */
export async function readCounts(
  sql: RawStatements,
  on: SqlConnection,
  appIds: readonly number[],
  sinceMs: number,
): Promise<readonly DeliveryCount[]> {
  const rows = await sql.all<{
    app_id: number;
    bucket_ms: number;
    succeeded: number;
    failed: number;
  }>(
    on,
    `select app_id, bucket_ms, succeeded, failed from webhooks_delivery_counts
      where ${sql.isOneOfNumbers('app_id')} and bucket_ms >= ?`,
    [JSON.stringify(appIds), sinceMs],
  );
  return rows.map((row) => ({
    ...{ appId: row.app_id, bucketMs: row.bucket_ms },
    ...{ succeededCount: row.succeeded, failedCount: row.failed },
  }));
}

/** Returns the counts of all apps together in buckets from `sinceMs`, the start of a bucket. */
export async function readTotalCounts(
  sql: RawStatements,
  on: SqlConnection,
  sinceMs: number,
): Promise<readonly Omit<DeliveryCount, 'appId'>[]> {
  // In PostgreSQL, the sum of bigint values is numeric, which is returned as a string.
  const rows = await sql.all<{ bucket_ms: number; succeeded: number; failed: number }>(
    on,
    `select bucket_ms, cast(sum(succeeded) as bigint) as succeeded,
        cast(sum(failed) as bigint) as failed
      from webhooks_delivery_counts where bucket_ms >= ? group by bucket_ms`,
    [sinceMs],
  );
  return rows.map((row) => ({
    ...{ bucketMs: row.bucket_ms, succeededCount: row.succeeded, failedCount: row.failed },
  }));
}

/** Deletes at most `limit` counts of buckets that ended before `beforeMs`. @returns the number of deleted rows. */
export async function purgeCounts(
  sql: RawStatements,
  tx: SqlConnection,
  beforeMs: number,
  limit: number,
): Promise<number> {
  return await sql.run(
    tx,
    `delete from webhooks_delivery_counts where (app_id, bucket_ms) in (
      select app_id, bucket_ms from webhooks_delivery_counts where bucket_ms <= ?
      order by bucket_ms limit ?)`,
    [beforeMs - COUNT_BUCKET_MS, limit],
  );
}
