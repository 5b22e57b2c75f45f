import type { RelationalStore } from '@plinth/kernel';
import type { Transaction } from 'kysely';
import { SegmentsChanged } from './segments-changed.js';
import { expireAllUploads, expireUploads } from './uploaded-segments.js';

interface PublishedTableRow {
  table_id: number;
  version: number;
  files_digest: string;
  published_ms: number;
  /** 1: files of older snapshots are kept for their readers. */
  keeps_files: number;
  /** JSON; empty if the table has no readable snapshot. */
  history: string;
}

interface PublishedFileRow {
  object_name: string;
  table_id: number;
  /** `null` while the current snapshot may list the file. 0 after a permanent deletion. */
  until_ms: number | null;
}

interface Tables {
  tsdb_published: PublishedTableRow;
  tsdb_published_files: PublishedFileRow;
  tsdb_segments: { id: string; table_id: number; object_name: string; kind: string };
}

/** The newest version of a table in the open format: docs/formats/open-tables.md. */
export interface PublishedRecord {
  readonly tableId: number;
  /** Version of the metadata file; it increases with each commit and is never reused. */
  readonly version: number;
  /** Digest of the listed files and of the schema; empty if no snapshot is readable. */
  readonly filesDigest: string;
  readonly publishedMs: number;
  readonly keepsFiles: boolean;
  /** JSON of the publisher; empty if no snapshot is readable. */
  readonly history: string;
}

/** Maximum rows per statement. */
const BATCH_ROWS = 500;

/**
 * Records of published tables, and the segments that left the registry while snapshots may still list them. A reader
 * of a snapshot finds its files until they expire.
 */
export class PublishedTables {
  readonly #store: RelationalStore;
  /** Kept files that no query of this process reads. */
  readonly #unused = new Set<string>();

  constructor(store: RelationalStore) {
    this.#store = store;
  }

  async load(): Promise<readonly PublishedRecord[]> {
    const rows = this.#store.reader<Tables>().selectFrom('tsdb_published').selectAll();
    return (await rows.execute()).map(toRecord);
  }

  async find(tableId: number): Promise<PublishedRecord | undefined> {
    const rows = this.#store.reader<Tables>().selectFrom('tsdb_published').selectAll();
    const row = await rows.where('table_id', '=', tableId).executeTakeFirst();
    return row && toRecord(row);
  }

  /**
   * Stores a version, within the caller's `SegmentCommits.whileConsistent`. Files that left the registry earlier are in no current
   * snapshot from now on.
   * Throws `SegmentsChanged` if the table does not have exactly `segmentCount` unique segments: a permanent deletion
   * removes them outside of `SegmentCommits`.
   * @param keepUntilMs expiry of these files
   */
  async commit(
    record: PublishedRecord,
    { segmentCount, keepUntilMs }: { readonly segmentCount: number; readonly keepUntilMs: number },
  ): Promise<void> {
    await this.#store.transaction<Tables, void>(async (tx) => {
      const { count } = await tx
        .selectFrom('tsdb_segments')
        .select((expression) => expression.fn.countAll().as('count'))
        .where('table_id', '=', record.tableId)
        .where('kind', '=', 'unique')
        .executeTakeFirstOrThrow();
      if (Number(count) !== segmentCount)
        throw new SegmentsChanged('segments of a published table were removed');
      await putRecord(tx, record, keepUntilMs);
    });
  }

  /** Removes the snapshots of a table that may no longer be read; its version remains reserved. */
  async withdraw(record: PublishedRecord, keepUntilMs: number): Promise<void> {
    const { tableId } = record;
    await this.#store.transaction<Tables, void>(async (tx) => {
      await tx
        .updateTable('tsdb_published')
        .set({ files_digest: '', history: '', keeps_files: 0 })
        .where('table_id', '=', tableId)
        .execute();
      await expireFiles(tx, tableId, keepUntilMs);
      await expireAllUploads(tx, tableId, keepUntilMs);
    });
  }

  /** Returns the object names of all kept files. */
  async loadFiles(): Promise<ReadonlySet<string>> {
    const rows = await this.#store
      .reader<Tables>()
      .selectFrom('tsdb_published_files')
      .select('object_name')
      .execute();
    const names = rows.map((row) => row.object_name);
    for (const name of names) this.#unused.add(name);
    return new Set(names);
  }

  /** Whether any files are pending removal. */
  get hasFiles(): boolean {
    return this.#unused.size > 0;
  }

  /**
   * Called when no query of this process reads a file that left the registry.
   * @returns whether the file must be kept for readers of snapshots
   */
  async release(objectName: string): Promise<boolean> {
    const row = await this.#store
      .reader<Tables>()
      .selectFrom('tsdb_published_files')
      .select('until_ms')
      .where('object_name', '=', objectName)
      .executeTakeFirst();
    if (row === undefined) return false;
    this.#unused.add(objectName);
    return row.until_ms === null || Number(row.until_ms) > 0;
  }

  /** Returns the expired files that no query of this process reads. */
  async expired(nowMs: number): Promise<readonly string[]> {
    const rows = await this.#store
      .reader<Tables>()
      .selectFrom('tsdb_published_files')
      .select('object_name')
      .where('until_ms', '<=', nowMs)
      .execute();
    return rows.map((row) => row.object_name).filter((name) => this.#unused.has(name));
  }

  /** Removes the records of deleted files. */
  async forget(objectNames: readonly string[]): Promise<void> {
    for (let i = 0; i < objectNames.length; i += BATCH_ROWS) {
      const batch = objectNames.slice(i, i + BATCH_ROWS);
      await this.#store.transaction<Tables, void>(async (tx) => {
        await tx.deleteFrom('tsdb_published_files').where('object_name', 'in', batch).execute();
      });
      for (const name of batch) this.#unused.delete(name);
    }
  }
}

const toRecord = (row: PublishedTableRow): PublishedRecord => ({
  tableId: Number(row.table_id),
  version: Number(row.version),
  filesDigest: row.files_digest,
  publishedMs: Number(row.published_ms),
  keepsFiles: Number(row.keeps_files) === 1,
  history: row.history,
});

async function putRecord(
  tx: Transaction<Tables>,
  record: PublishedRecord,
  keepUntilMs: number,
): Promise<void> {
  const { tableId: table_id, filesDigest: files_digest, publishedMs: published_ms } = record;
  const { version, history } = record;
  const keeps_files = record.keepsFiles ? 1 : 0;
  const values = { version, files_digest, published_ms, keeps_files, history };
  await tx
    .insertInto('tsdb_published')
    .values({ table_id, ...values })
    .onConflict((conflict) => conflict.column('table_id').doUpdateSet(values))
    .execute();
  await expireFiles(tx, table_id, keepUntilMs);
  await expireUploads(tx, table_id, keepUntilMs);
}

/** Sets the expiry of the table's kept files. Called when no current snapshot lists them. */
async function expireFiles(
  tx: Transaction<Tables>,
  tableId: number,
  untilMs: number,
): Promise<void> {
  await tx
    .updateTable('tsdb_published_files')
    .set({ until_ms: untilMs })
    .where('table_id', '=', tableId)
    .where('until_ms', 'is', null)
    .execute();
}

/** Keeps segments that snapshots may list, within the transaction that removes them from the registry. */
export async function keepPublished<DB>(
  tx: Transaction<DB>,
  segmentIds: readonly string[],
): Promise<void> {
  const own = tx as unknown as Transaction<Tables>; // see `SegmentRegistry.removeTable`
  await own
    .insertInto('tsdb_published_files')
    .columns(['object_name', 'table_id'])
    .expression((expression) =>
      expression
        .selectFrom('tsdb_segments')
        .select(['object_name', 'table_id'])
        .where('id', 'in', [...segmentIds])
        .where('kind', '=', 'unique')
        .where('table_id', 'in', (published) =>
          published.selectFrom('tsdb_published').select('table_id').where('keeps_files', '=', 1),
        ),
    )
    .execute();
}

/**
 * Called when a table is removed permanently: its kept files and its uploads expire immediately.
 */
export async function forgetPublished<DB>(tx: Transaction<DB>, tableId: number): Promise<void> {
  const own = tx as unknown as Transaction<Tables>; // see `SegmentRegistry.removeTable`
  await own.deleteFrom('tsdb_published').where('table_id', '=', tableId).execute();
  await own
    .updateTable('tsdb_published_files')
    .set({ until_ms: 0 })
    .where('table_id', '=', tableId)
    .execute();
  await expireAllUploads(tx, tableId, 0);
}
