import { type Clock, type EventLoopYielder, objectError } from '@plinth/kernel';
import type { SegmentCommits } from '@plinth/tsdb-engine/flush/segment-commits.js';
import type { TableStore } from '@plinth/tsdb-engine/table/table-store.js';
import { tombstonesOfSegment } from '@plinth/tsdb-engine/table/tombstones.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import { isoOf } from '@plinth/tsdb-model/time/calendar.js';
import type { PublishedTables } from '@plinth/tsdb-storage/segments/published-tables.js';
import { SegmentsChanged } from '@plinth/tsdb-storage/segments/segments-changed.js';
import type { SegmentUploads } from '../bucket/segment-uploads.js';
import { hasExpired, historyOf, type PublishedHistory, withoutExpired } from './history.js';
import { type MetadataTrees, objectsOf } from './metadata-trees.js';
import { completeHistory, type NextVersion, nextVersion } from './next-version.js';
import type { PublishedTable } from './published-table.js';

/** Number of attempts that do not block flushes and merges, which change the files. */
const FREE_ATTEMPTS = 3;
/** Time after which the last snapshot with deleted rows is withdrawn. */
const LONGEST_WAIT_MS = 300_000;

export interface TablePublisherDeps {
  readonly trees: MetadataTrees;
  /** Present if `trees` are in a bucket. */
  readonly uploads: SegmentUploads | undefined;
  readonly segmentCommits: Pick<SegmentCommits, 'whileConsistent'>;
  readonly records: PublishedTables;
  readonly clock: Clock;
  readonly yielder: EventLoopYielder;
  /** Time for which replaced snapshots and their files are kept. */
  readonly keepMs: number;
  /** Newest schema of a table; `undefined` if it was deleted. */
  readonly schemaOf: (tableId: number) => TableSchema | undefined;
  readonly onError: (error: unknown) => void;
}

/** Files and deletions of a table at one point in time. */
interface Seen {
  readonly schema: TableSchema;
  readonly segments: TableStore['segments'];
  readonly tombstones: TableStore['tombstones']['all'];
  readonly files: readonly Segment[];
  readonly freshThroughNs: bigint;
}

interface Written {
  readonly next: NextVersion;
  readonly history: PublishedHistory;
}

/**
 * Publishes the segments of one table: manifests first, then, while no flush, merge or deletion can
 * change the table, the metadata file and its record. A version that exists therefore contains no
 * row that was deleted before. A write to a bucket may take seconds, and flushes must not wait for
 * it. For a bucket, the segments are uploaded first, and the metadata file exists before its
 * record: the catalog lists it afterwards, and a version that cannot be committed is removed.
 */
export class TablePublisher {
  readonly #deps: TablePublisherDeps;

  constructor(deps: TablePublisherDeps) {
    this.#deps = deps;
  }

  /** Publishes the table if it has changed, and records its state. */
  async publish(table: PublishedTable, store: TableStore): Promise<void> {
    if (!table.isVerified) await this.#verify(table);
    for (let attempt = 0; attempt < FREE_ATTEMPTS; attempt++) {
      const seen = await this.#deps.segmentCommits.whileConsistent(async () => this.#see(store));
      if (seen === undefined || this.#isEmpty(table, seen)) return;
      if (this.#mustWait(table, seen)) return await this.#wait(table);
      if (this.#isUnchanged(table, seen)) return;
      if (!(await this.#upload(table, store, seen))) continue;
      const written = await this.#write(table, seen);
      if (written === undefined) return;
      if (this.#isRemote) await this.#writeMetadata(table, written);
      const commit = () => this.#commit(table, { store, seen, written });
      if (await this.#deps.segmentCommits.whileConsistent(commit))
        return await this.#tidy(table, seen, written);
      await this.#verify(table);
    }
    if (this.#isRemote) {
      table.state = { kind: 'waiting', reason: 'files changed while they were published' };
      return;
    }
    await this.#publishInOneCommit(table, store);
  }

  /** Blocks flushes, merges and deletions while it runs. */
  async #publishInOneCommit(table: PublishedTable, store: TableStore): Promise<void> {
    const written = await this.#deps.segmentCommits.whileConsistent(async () => {
      const seen = this.#see(store);
      if (seen === undefined || this.#isEmpty(table, seen) || this.#mustWait(table, seen))
        return undefined;
      const last = await this.#write(table, seen);
      const isDone = last && (await this.#commit(table, { store, seen, written: last }));
      return isDone ? { seen, last } : undefined;
    });
    if (written !== undefined) await this.#tidy(table, written.seen, written.last);
    else if (!table.isVerified) await this.#verify(table);
  }

  get #isRemote(): boolean {
    return this.#deps.uploads !== undefined;
  }

  /**
   * Returns false if the files must be listed again, because some have been removed or the uploads
   * took a long time.
   */
  async #upload(table: PublishedTable, store: TableStore, seen: Seen): Promise<boolean> {
    const onProgress = (doneCount: number, count: number): void => {
      table.state = { kind: 'waiting', reason: `${doneCount} of ${count} files are uploaded` };
    };
    try {
      await this.#deps.uploads?.upload(table.tableId, seen.files, onProgress);
    } catch (error) {
      if (!objectError.is(error, 'object_not_found')) throw error;
      const isRegistered = store.segments.some(
        ({ segment }) => segment.objectName === error.details,
      );
      if (isRegistered) throw error;
    }
    const now = await this.#deps.segmentCommits.whileConsistent(async () => this.#see(store));
    return now !== undefined && this.#isStillTrue(table, seen, now);
  }

  /** Like `withdraw`, for a table whose record may not be loaded yet. */
  async withdrawStored(table: PublishedTable, reason: string): Promise<void> {
    if (!table.isVerified) await this.#verify(table);
    await this.withdraw(table, reason);
  }

  /** Removes all snapshots of a table. */
  async withdraw(table: PublishedTable, reason: string): Promise<void> {
    const { segmentCommits, records, clock, keepMs, trees } = this.#deps;
    table.isVerified = false;
    const { record } = table;
    if (record !== undefined && record.history !== '') {
      await segmentCommits.whileConsistent(() => records.withdraw(record, clock.nowMs() + keepMs));
      table.use({ ...record, history: '', filesDigest: '', keepsFiles: false }, undefined);
    }
    table.state = { kind: 'withdrawn', reason };
    table.seen = undefined;
    await trees.remove(await trees.list(table.uuid));
    table.isVerified = true;
  }

  /** Reconciles record and objects after a start or an error, which may have left unfinished versions. */
  async #verify(table: PublishedTable): Promise<void> {
    const { records, trees } = this.#deps;
    const record = await records.find(table.tableId);
    const stored = new Set(await trees.list(table.uuid));
    const history = historyOf(record?.history, trees.root);
    const needed = objectsOf(table.uuid, history);
    const isComplete = [...needed].every((name) => stored.has(name));
    const used = isComplete ? needed : new Set<string>();
    await trees.remove([...stored].filter((name) => !used.has(name)));
    table.use(record, isComplete ? history : undefined);
    table.seen = undefined;
    table.isVerified = true;
  }

  /**
   * Returns the current state of a table; `undefined` if it was deleted. Call only between commits.
   */
  #see(store: TableStore): Seen | undefined {
    const schema = this.#deps.schemaOf(store.tableId);
    if (schema === undefined || store.isBeingRemoved) return undefined;
    const { segments } = store;
    const files = segments.map(({ segment }) => segment).filter(({ kind }) => kind === 'unique');
    const freshThroughNs = store.minBufferedSeq ?? this.#deps.clock.nowNs();
    return { schema, segments, tombstones: store.tombstones.all, files, freshThroughNs };
  }

  #isEmpty(table: PublishedTable, { files }: Seen): boolean {
    if (table.history !== undefined || files.length > 0) return false;
    table.state = { kind: 'empty' };
    return true;
  }

  #isUnchanged(table: PublishedTable, { segments, schema }: Seen): boolean {
    const { seen, history } = table;
    const isSame = seen !== undefined && seen.segments === segments && seen.schema === schema;
    const { clock, keepMs } = this.#deps;
    const isUnchanged =
      isSame && history !== undefined && !hasExpired(history, clock.nowMs(), keepMs);
    if (isUnchanged) table.state = { kind: 'published' };
    return isUnchanged;
  }

  #mustWait(table: PublishedTable, { tombstones, files }: Seen): boolean {
    const hasDeletedRows =
      tombstones.length > 0 &&
      files.some((file) => tombstonesOfSegment(tombstones, file).length > 0);
    if (!hasDeletedRows) table.waitingSinceMs = undefined;
    return hasDeletedRows;
  }

  async #wait(table: PublishedTable): Promise<void> {
    const nowMs = this.#deps.clock.monotonicMs();
    table.waitingSinceMs ??= nowMs;
    const reason = 'deleted rows are still in files';
    if (nowMs - table.waitingSinceMs < LONGEST_WAIT_MS) table.state = { kind: 'waiting', reason };
    else if (table.state.kind !== 'withdrawn') await this.withdraw(table, reason);
  }

  /** Writes manifests and manifest lists. Returns `undefined` if nothing has changed. */
  async #write(table: PublishedTable, seen: Seen): Promise<Written | undefined> {
    const { trees, clock, keepMs, yielder } = this.#deps;
    const nowMs = clock.nowMs();
    const next = await nextVersion({
      files: seen.files,
      columns: seen.schema.columns.values(),
      previous: table.record,
      history: table.history,
      freshThrough: isoOf(seen.freshThroughNs),
      mergedThrough: String(mergedThrough(seen)),
      ...{ root: trees.root, nowMs, keepMs, yielder },
    });
    if (next === undefined) {
      table.seen = seen;
      table.state = { kind: 'published' };
      return undefined;
    }
    table.isVerified = false; // until the version is committed or removed
    const manifests = await trees.writeManifests(table.uuid, next);
    const complete = completeHistory(next, manifests, nowMs);
    const publishedMs = complete.metadata.at(-1)?.timestampMs ?? nowMs;
    const history = withoutExpired(complete, publishedMs, keepMs);
    if (next.isSnapshot) await trees.writeLists(table.uuid, history);
    return { next, history };
  }

  async #writeMetadata({ uuid }: PublishedTable, { next, history }: Written): Promise<void> {
    await this.#deps.trees.writeMetadata(uuid, next, history);
  }

  /**
   * Call only between commits. Returns false if the files have changed; the caller then removes the
   * written objects.
   */
  async #commit(
    table: PublishedTable,
    options: { readonly store: TableStore; readonly seen: Seen; readonly written: Written },
  ): Promise<boolean> {
    const { records, keepMs } = this.#deps;
    const { seen, written } = options;
    const { next, history } = written;
    const now = this.#see(options.store);
    try {
      if (now === undefined || !this.#isStillTrue(table, seen, now))
        throw new SegmentsChanged('the files of the table have changed');
      if (!this.#isRemote) await this.#writeMetadata(table, written);
      const publishedMs = history.metadata.at(-1)?.timestampMs ?? 0;
      const record = {
        tableId: table.tableId,
        version: next.version,
        filesDigest: next.filesDigest,
        publishedMs,
        keepsFiles: keepMs > 0 && !this.#isRemote, // readers of a bucket need no local files
        history: JSON.stringify(history),
      };
      const uniqueCount = now.files.length;
      await records.commit(record, {
        segmentCount: uniqueCount,
        keepUntilMs: publishedMs + keepMs,
      });
      table.record = record;
      return true;
    } catch (error) {
      if (!(error instanceof SegmentsChanged)) throw error;
      return false;
    }
  }

  #isStillTrue(table: PublishedTable, seen: Seen, now: Seen): boolean {
    if (now.segments !== seen.segments) {
      const ids = new Set(now.files.map(({ id }) => id));
      if (!seen.files.every(({ id }) => ids.has(id))) return false;
    }
    return (
      now.tombstones === seen.tombstones || !this.#mustWait(table, { ...now, files: seen.files })
    );
  }

  /** Called when the version is committed. */
  async #tidy(table: PublishedTable, seen: Seen, { history }: Written): Promise<void> {
    const { trees } = this.#deps;
    const before = objectsOf(table.uuid, table.history);
    const after = objectsOf(table.uuid, history);
    table.use(table.record, history);
    table.seen = seen;
    table.isVerified = true;
    table.state = { kind: 'published' };
    // Objects that cannot be removed now are removed at the next start.
    const unused = [...before].filter((name) => !after.has(name));
    await trees.remove(unused).catch(this.#deps.onError);
  }
}

/** Returns the sequence number up to which later writes of points are merged. */
function mergedThrough({ segments, freshThroughNs }: Seen): bigint {
  const overlays = segments.filter(({ segment }) => segment.kind === 'overlay');
  return overlays.reduce(
    (min, { segment }) => (segment.minSeq <= min ? segment.minSeq - 1n : min),
    freshThroughNs,
  );
}
