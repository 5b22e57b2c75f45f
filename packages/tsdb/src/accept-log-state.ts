import type { RelationalStore } from '@plinth/kernel';
import { SEGMENT_MIGRATIONS } from '@plinth/tsdb-storage/segments/segment-migrations.js';
import { SegmentRegistry } from '@plinth/tsdb-storage/segments/segment-registry.js';

/** Makes the server accept the log at the next start, because `relational` was replaced by an older copy on purpose. */
export async function acceptLogState(relational: RelationalStore): Promise<void> {
  // Creates the table in a copy that was made by an earlier release.
  await relational.migrate('tsdb_segments', SEGMENT_MIGRATIONS);
  await new SegmentRegistry(relational).logCheckpointRecord.forget();
}
