import type { BucketStore, ObjectStore } from '@plinth/kernel';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import type { UploadedSegments } from '@plinth/tsdb-storage/segments/uploaded-segments.js';
import type { PublishCounts } from '../publish/publish-counts.js';

const CONCURRENT_UPLOADS = 4;
const CONCURRENT_REMOVALS = 8;
/** Number of uploads that are recorded together. */
const BATCH_FILES = 16;
/** Size of one read from the data folder. */
const PIECE_BYTES = 1024 * 1024;

/** Copies the segments of published tables to the bucket, once each and under the same names, and removes expired copies. */
export class SegmentUploads {
  readonly #bucket: BucketStore;
  readonly #objects: ObjectStore;
  readonly #records: UploadedSegments;
  readonly #counts: PublishCounts;

  constructor(options: {
    readonly bucket: BucketStore;
    /** The segments of this server. */
    readonly objects: ObjectStore;
    readonly records: UploadedSegments;
    readonly counts: PublishCounts;
  }) {
    this.#bucket = options.bucket;
    this.#objects = options.objects;
    this.#records = options.records;
    this.#counts = options.counts;
  }

  /**
   * Uploads the files of a table that are missing in the bucket. Throws `object_not_found` if a
   * file was removed in the meantime.
   * @param onProgress called after each batch if more follow
   * @returns the number of uploaded files
   */
  async upload(
    tableId: number,
    files: readonly Segment[],
    onProgress: (doneCount: number, count: number) => void,
  ): Promise<number> {
    const missing = await this.#records.missing(tableId);
    const pending = files.filter(({ objectName }) => missing.has(objectName));
    for (let from = 0; from < pending.length; from += BATCH_FILES) {
      if (pending.length > BATCH_FILES) onProgress(from, pending.length);
      const batch = pending.slice(from, from + BATCH_FILES);
      const names = batch.map(({ objectName }) => objectName);
      await this.#records.begin(tableId, names);
      await forEach(batch, CONCURRENT_UPLOADS, (file) => this.#upload(file));
      await this.#records.complete(names);
    }
    return pending.length;
  }

  /**
   * Reconciles the records with the bucket, for example after a crash or after a backup was
   * restored.
   */
  async reconcile(): Promise<void> {
    const recorded = await this.#records.load();
    const stored = new Set((await this.#bucket.list('tsdb/')).map(({ name }) => name));
    await this.#records.forget([...recorded].filter((name) => !stored.has(name)));
    await this.#remove([...stored].filter((name) => !recorded.has(name)));
  }

  async removeExpired(nowMs: number): Promise<void> {
    for (;;) {
      const names = await this.#records.expired(nowMs);
      if (names.length === 0) return;
      await this.#remove(names);
      await this.#records.forget(names);
    }
  }

  async #upload({ objectName, sizeBytes, checksum }: Segment): Promise<void> {
    const objects = this.#objects;
    await this.#bucket.upload(objectName, {
      ...{ sizeBytes, checksum },
      async *read() {
        for (let start = 0; start < sizeBytes; start += PIECE_BYTES)
          yield await objects.get(objectName, {
            ...{ start, end: Math.min(start + PIECE_BYTES, sizeBytes) },
          });
      },
    });
    this.#counts.uploaded(sizeBytes);
  }

  async #remove(names: readonly string[]): Promise<void> {
    await forEach(names, CONCURRENT_REMOVALS, (name) => this.#bucket.delete(name));
  }
}

/** Runs `work` for all items, up to `concurrency` at once. After a failure, it starts no further work. */
async function forEach<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  let hasFailed = false;
  const run = async (): Promise<void> => {
    for (const item of queue) {
      if (hasFailed) return;
      try {
        await work(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const runs = Array.from({ length: concurrency }, run);
  await Promise.allSettled(runs); // nothing changes after a failure is reported
  await Promise.all(runs);
}
