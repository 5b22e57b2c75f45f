import type { RelationalStore } from '@plinth/kernel';
import { SEGMENT_MIGRATIONS } from '@plinth/tsdb-storage/segments/segment-migrations.js';
import { SegmentRegistry } from '@plinth/tsdb-storage/segments/segment-registry.js';

/** Lets the next start take the log as it is: `relational` is an older copy on purpose. */
export async function acceptLogState(relational: RelationalStore): Promise<void> {
  // A copy that an earlier release has made gets the table for it.
  await relational.migrate('tsdb_segments', SEGMENT_MIGRATIONS);
  await new SegmentRegistry(relational).knownLogRecord.forget();
}
