import type { Clock, Leases } from '@plinth/kernel';
import type { DuckDbHost } from '../../../storage/duckdb/duckdb-host.js';
import type { Segment } from '../../../storage/segments/segment.js';
import type { SegmentFiles } from '../../../storage/segments/segment-files.js';
import {
  type SegmentRegistry,
  SegmentsChanged,
} from '../../../storage/segments/segment-registry.js';
import type { TableStore } from '../table/table-store.js';
import { tombstonesOfSegment } from '../table/tombstones.js';
import type { FileCommits } from './file-commits.js';
import { mergeSegments } from './merge-segments.js';

const CHECK_INTERVAL_MS = 10_000;
/** So many segments of one chunk and level are merged into one of the next level. */
const MERGE_COUNT = 8;
/** A merge reads at most so many bytes: beyond it segments stay as they are. */
const MAX_MERGE_BYTES = 256 * 1024 * 1024;

/**
 * Merges small segments of a chunk into larger ones, and overlays into the points they overwrite, in the background: one
 * merge at a time, newest chunk first.
 */
export class Compactor {
  readonly #tables: () => Iterable<TableStore>;
  readonly #host: DuckDbHost;
  readonly #files: SegmentFiles;
  readonly #registry: SegmentRegistry;
  readonly #commits: FileCommits;
  readonly #leases: Leases;
  readonly #clock: Clock;
  readonly #visibleFromNs: (store: TableStore) => bigint;
  readonly #onMerged: () => void;
  readonly #onFailed: (error: unknown) => void;
  #ticker: Disposable | undefined;
  #running: Promise<void> | undefined;
  #isClosing = false;

  constructor(options: {
    readonly tables: () => Iterable<TableStore>;
    readonly host: DuckDbHost;
    readonly files: SegmentFiles;
    readonly registry: SegmentRegistry;
    readonly commits: FileCommits;
    readonly leases: Leases;
    readonly clock: Clock;
    /** Where the table's retention period begins. */
    readonly visibleFromNs: (store: TableStore) => bigint;
    readonly onMerged: () => void;
    readonly onFailed: (error: unknown) => void;
  }) {
    this.#tables = options.tables;
    this.#host = options.host;
    this.#files = options.files;
    this.#registry = options.registry;
    this.#commits = options.commits;
    this.#leases = options.leases;
    this.#clock = options.clock;
    this.#visibleFromNs = options.visibleFromNs;
    this.#onMerged = options.onMerged;
    this.#onFailed = options.onFailed;
  }

  start(): void {
    this.#ticker ??= this.#clock.every(CHECK_INTERVAL_MS, () => this.compactWhenDue());
  }

  /** Starts merging in the background when there is something to merge. */
  compactWhenDue(): void {
    if (this.#running !== undefined || this.#isClosing) return;
    this.#running = this.#compact()
      .catch(this.#onFailed)
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Resolves when what is due is merged. */
  async merged(): Promise<void> {
    await this.#running;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#ticker?.[Symbol.dispose]();
    this.#ticker = undefined;
    await this.#running;
  }

  async #compact(): Promise<void> {
    for (const store of this.#tables()) {
      for (
        let inputs = chooseInputs(store);
        inputs.length > 0 && !this.#isClosing && !store.isGone;
        inputs = chooseInputs(store)
      ) {
        const chosen = inputs;
        const isMerged = await this.#leases.withLease('tsdb.compaction', () =>
          this.#merge(store, chosen),
        );
        if (isMerged !== true) return;
      }
      await this.#retireTombstones(store);
    }
  }

  /** Forgets deletions that are carried out in everything that was written before them. */
  async #retireTombstones(store: TableStore): Promise<void> {
    if (store.tombstones.count === 0 || store.isGone) return;
    const segments = store.segments.map((open) => open.segment);
    const bufferedSeq = store.minBufferedSeq;
    const done = store.tombstones.all.filter(
      (tombstone) =>
        (bufferedSeq === undefined || bufferedSeq > tombstone.seq) &&
        segments.every((segment) => tombstonesOfSegment([tombstone], segment).length === 0),
    );
    if (done.length === 0) return;
    const ids = done.map(({ id }) => id);
    await this.#registry.removeTombstones(ids);
    store.tombstones.remove(new Set(ids));
  }

  async #merge(store: TableStore, inputs: readonly Segment[]): Promise<boolean> {
    const added = await mergeSegments({
      store,
      inputs,
      host: this.#host,
      files: this.#files,
      visibleFromNs: this.#visibleFromNs(store),
    });
    const publication = store.publication({
      flushed: undefined,
      removed: inputs,
      added: added.map((segment) => store.openVerified(segment)),
    });
    try {
      await this.#commits.commit(() => ({
        change: {
          addSegments: added,
          removeSegments: inputs.map((segment) => segment.id),
          addSeriesFiles: [],
          removeSeriesFiles: [],
        },
        publications: [publication],
      }));
    } catch (error) {
      if (error instanceof SegmentsChanged) return false;
      throw error;
    }
    this.#onMerged();
    return true;
  }
}

/**
 * The next segments to merge, or none. Segments with deleted rows are rid of them first, one by one. Then overlays: they cost at every query. They are merged with every segment they may
 * overwrite (all that overlap their times), otherwise a chunk's smallest segments go together.
 */
export function chooseInputs(store: TableStore): readonly Segment[] {
  const segments = store.segments.map((open) => open.segment);
  const { all: tombstones } = store.tombstones;
  const withDeleted = segments.find(
    (segment) => segment.kind === 'unique' && tombstonesOfSegment(tombstones, segment).length > 0,
  );
  if (withDeleted !== undefined) return [withDeleted];
  const overlays = segments.filter((segment) => segment.kind === 'overlay');
  if (overlays.length > 0) {
    const minTime = overlays.reduce(
      (min, s) => (s.minTime < min ? s.minTime : min),
      overlays[0]?.minTime ?? 0n,
    );
    const maxTime = overlays.reduce(
      (max, s) => (s.maxTime > max ? s.maxTime : max),
      overlays[0]?.maxTime ?? 0n,
    );
    const touched = segments.filter(
      (s) => s.kind === 'unique' && s.minTime <= maxTime && s.maxTime >= minTime,
    );
    const inputs = [...touched, ...overlays];
    if (sizeOf(inputs) <= MAX_MERGE_BYTES) return inputs;
  }
  return smallestOfAChunk(segments);
}

function smallestOfAChunk(segments: readonly Segment[]): readonly Segment[] {
  const groups = new Map<string, Segment[]>();
  for (const segment of segments) {
    if (segment.kind === 'overlay') continue;
    const key = `${segment.chunkStartNs} ${segment.chunkWidthNs} ${segment.level}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [segment]);
    else group.push(segment);
  }
  const due = [...groups.values()]
    .filter((group) => group.length >= MERGE_COUNT)
    .map((group) => group.sort((a, b) => a.sizeBytes - b.sizeBytes).slice(0, MERGE_COUNT))
    .filter((group) => sizeOf(group) <= MAX_MERGE_BYTES)
    .sort((a, b) => ((a[0]?.chunkStartNs ?? 0n) > (b[0]?.chunkStartNs ?? 0n) ? -1 : 1));
  return due[0] ?? [];
}

function sizeOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.sizeBytes, 0);
}
