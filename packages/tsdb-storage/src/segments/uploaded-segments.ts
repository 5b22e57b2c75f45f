import type { RelationalStore } from '@plinth/kernel';
import type { Transaction } from 'kysely';

interface UploadedRow {
  object_name: string;
  table_id: number;
  /** The bucket; objects in other buckets do not count as uploaded. */
  root: string;
  /** 0: the upload may not have finished. */
  is_complete: number;
  /** `null` while the newest version may list the object. */
  until_ms: number | null;
}

interface Tables {
  tsdb_uploaded: UploadedRow;
  tsdb_segments: { object_name: string; table_id: number; kind: string };
}

/** Maximum rows per statement. */
const BATCH_ROWS = 500;

/** Records of the segments that were uploaded for readers on other machines: docs/formats/open-tables.md. */
export class UploadedSegments {
  readonly #store: RelationalStore;
  readonly #root: string;

  /** @param root see `BucketStore.root` */
  constructor(store: RelationalStore, root: string) {
    this.#store = store;
    this.#root = root;
  }

  /** Returns the object names of a table's unique segments that are not uploaded. */
  async missing(tableId: number): Promise<ReadonlySet<string>> {
    const rows = await this.#store
      .reader<Tables>()
      .selectFrom('tsdb_segments')
      .select('object_name')
      .where('table_id', '=', tableId)
      .where('kind', '=', 'unique')
      .where('object_name', 'not in', (uploaded) =>
        uploaded
          .selectFrom('tsdb_uploaded')
          .select('object_name')
          .where('table_id', '=', tableId)
          .where('root', '=', this.#root)
          .where('is_complete', '=', 1),
      )
      .execute();
    return new Set(rows.map((row) => row.object_name));
  }

  /**
   * Records uploads before they start, so that no object is left behind when they are interrupted.
   */
  async begin(tableId: number, objectNames: readonly string[]): Promise<void> {
    const row = { table_id: tableId, root: this.#root, is_complete: 0, until_ms: null };
    await this.#store.transaction<Tables, void>(async (tx) => {
      await tx
        .insertInto('tsdb_uploaded')
        .values(objectNames.map((object_name) => ({ object_name, ...row })))
        .onConflict((conflict) => conflict.column('object_name').doUpdateSet(row))
        .execute();
    });
  }

  async complete(objectNames: readonly string[]): Promise<void> {
    await this.#store.transaction<Tables, void>(async (tx) => {
      await tx
        .updateTable('tsdb_uploaded')
        .set({ is_complete: 1 })
        .where('object_name', 'in', objectNames)
        .execute();
    });
  }

  /**
   * Returns the object names of all uploads, including unfinished ones. Removes the records of
   * uploads to other buckets.
   */
  async load(): Promise<ReadonlySet<string>> {
    await this.#store.transaction<Tables, void>(async (tx) => {
      await tx.deleteFrom('tsdb_uploaded').where('root', '!=', this.#root).execute();
    });
    const rows = this.#store.reader<Tables>().selectFrom('tsdb_uploaded').select('object_name');
    return new Set((await rows.execute()).map((row) => row.object_name));
  }

  /** Returns up to `BATCH_ROWS` objects that no version lists any more. */
  async expired(nowMs: number): Promise<readonly string[]> {
    const rows = await this.#store
      .reader<Tables>()
      .selectFrom('tsdb_uploaded')
      .select('object_name')
      .where('until_ms', '<=', nowMs)
      .where('root', '=', this.#root)
      .limit(BATCH_ROWS)
      .execute();
    return rows.map((row) => row.object_name);
  }

  /** Removes the records of objects that do not exist in the bucket. */
  async forget(objectNames: readonly string[]): Promise<void> {
    for (let from = 0; from < objectNames.length; from += BATCH_ROWS) {
      const batch = objectNames.slice(from, from + BATCH_ROWS);
      await this.#store.transaction<Tables, void>(async (tx) => {
        await tx.deleteFrom('tsdb_uploaded').where('object_name', 'in', batch).execute();
      });
    }
  }
}

/**
 * Sets the expiry of uploads that have left the registry, and clears it for registered uploads.
 * Called when a version is committed: it lists exactly the registered uploads.
 */
export async function expireUploads<DB>(
  tx: Transaction<DB>,
  tableId: number,
  untilMs: number,
): Promise<void> {
  const own = tx as unknown as Transaction<Tables>; // see `SegmentRegistry.removeTable`
  const uploads = own.updateTable('tsdb_uploaded').where('table_id', '=', tableId);
  const registered = own
    .selectFrom('tsdb_segments')
    .select('object_name')
    .where('table_id', '=', tableId)
    .where('kind', '=', 'unique');
  await uploads
    .set({ until_ms: untilMs })
    .where('until_ms', 'is', null)
    .where('object_name', 'not in', registered)
    .execute();
  await uploads
    .set({ until_ms: null })
    .where('until_ms', 'is not', null)
    .where('object_name', 'in', registered)
    .execute();
}

/** Called when no version of the table may be read any more. */
export async function expireAllUploads<DB>(
  tx: Transaction<DB>,
  tableId: number,
  untilMs: number,
): Promise<void> {
  const own = tx as unknown as Transaction<Tables>; // see `SegmentRegistry.removeTable`
  await own
    .updateTable('tsdb_uploaded')
    .set({ until_ms: untilMs })
    .where('table_id', '=', tableId)
    .where((where) => where.or([where('until_ms', 'is', null), where('until_ms', '>', untilMs)]))
    .execute();
}
