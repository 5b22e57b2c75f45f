import type { TableStore } from '@plinth/tsdb-engine/table/table-store.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { PublishedRecord } from '@plinth/tsdb-storage/segments/published-tables.js';
import type { PublishedHistory } from './history.js';

/** Whether the newest rows are published, and if not, why. */
export type PublishState =
  | { readonly kind: 'published' }
  /** No segment exists yet. */
  | { readonly kind: 'empty' }
  /** Deleted rows are still in segments; the last snapshot remains. */
  | { readonly kind: 'waiting'; readonly reason: string }
  /** No snapshot is readable. */
  | { readonly kind: 'withdrawn'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** The publication of one table in this process. */
export class PublishedTable {
  readonly uuid: string;
  readonly tableId: number;
  record: PublishedRecord | undefined;
  /** `undefined` if no snapshot is readable. */
  history: PublishedHistory | undefined;
  /** False if stored objects may differ from the record. */
  isVerified = false;
  /** Files and schema of the newest version, to detect quickly that nothing has changed. */
  seen: { readonly segments: TableStore['segments']; readonly schema: TableSchema } | undefined;
  /** Time since which deleted rows have prevented a new version. */
  waitingSinceMs: number | undefined;
  state: PublishState = { kind: 'empty' };

  constructor(table: { readonly tableId: number; readonly uuid: string }) {
    this.tableId = table.tableId;
    this.uuid = table.uuid;
  }

  /** Called when the stored record is known. */
  use(record: PublishedRecord | undefined, history: PublishedHistory | undefined): void {
    this.record = record;
    this.history = history;
  }

  get version(): number {
    return this.record?.version ?? 0;
  }
}
