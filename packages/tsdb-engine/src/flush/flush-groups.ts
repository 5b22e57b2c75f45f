import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import type { PostCommitUpdate } from '../table/post-commit-update.js';
import type { TableStore } from '../table/table-store.js';
import type { ClosedGeneration } from '../write/write-sequencer.js';
import { type FlushedTable, flushTable } from './flush-table.js';
import type { SegmentCommits } from './segment-commits.js';

interface Flushed {
  readonly store: TableStore;
  readonly result: FlushedTable;
}

export interface FlushGroupsDeps {
  readonly tables: () => Iterable<TableStore>;
  readonly duckDb: DuckDbHost;
  readonly files: SegmentFiles;
  readonly segmentCommits: SegmentCommits;
  /** Maximum number of tables that are written and registered together. */
  readonly maxGroupTables: number;
  /** True when the node stops and the flush must end. */
  readonly mustStop: () => boolean;
  readonly onProgress: (tableCount: number, doneCount: number) => void;
}

/** Writes the tables of a closed generation to files and registers them, group by group. */
export class FlushGroups {
  readonly #deps: FlushGroupsDeps;

  constructor(deps: FlushGroupsDeps) {
    this.#deps = deps;
  }

  /**
   * Writes in groups, because DuckDB has memory for the rows of a few thousand tables. Each group's
   * log position is registered with it; the last group advances the position of all tables. Returns
   * false if the time limit is reached first.
   */
  async write(closed: ClosedGeneration): Promise<boolean> {
    const { tables, segmentCommits, mustStop, onProgress } = this.#deps;
    await segmentCommits.determineOutcome(); // this generation, or a part of it, may already be stored
    const duckDbBytes = (store: TableStore): number =>
      store.generation(closed.number)?.duckDbBytes ?? 0;
    const waiting = [...tables()]
      .filter((store) => store.generation(closed.number) !== undefined)
      // The tables that use the most memory come first, to free memory for the others.
      .sort((a, b) => duckDbBytes(b) - duckDbBytes(a));
    const tableCount = waiting.length;
    do {
      if (mustStop()) return false;
      onProgress(tableCount, tableCount - waiting.length);
      await this.#flushGroup(closed, waiting);
    } while (waiting.length > 0);
    return true;
  }

  /** Takes a group of tables out of `waiting`, and writes and registers it. */
  async #flushGroup(closed: ClosedGeneration, waiting: TableStore[]): Promise<void> {
    const flushed = await this.#writeGroup(closed, waiting);
    const isLast = waiting.length === 0;
    const postCommitUpdates = flushed.map(({ store, result }) =>
      postCommitUpdateOf(store, closed, result),
    );
    let gone: readonly Flushed[] = [];
    try {
      await this.#deps.segmentCommits.commit(() => {
        // In the same step as the check: if a table is deleted afterwards, the files registered here are also removed.
        gone = flushed.filter(({ store }) => store.isBeingRemoved);
        const existing = flushed.filter(({ store }) => !store.isBeingRemoved);
        const tableIds = existing.map(({ store }) => store.tableId);
        return {
          change: {
            addSegments: existing.flatMap(({ result }) => result.segments),
            removeSegments: [],
            addSeriesFiles: existing.flatMap(({ result }) => result.seriesFile ?? []),
            removeSeriesFiles: [],
            flushed: {
              file: closed.file,
              tableIds,
              lastRemovableFile: isLast ? closed.lastRemovableFile : undefined,
              replayStart: closed.replayStart,
              newestFile: closed.newestFile,
            },
          },
          postCommitUpdates: postCommitUpdates.filter(
            (_, i) => !gone.includes(flushed[i] as Flushed),
          ),
        };
      });
    } finally {
      await this.#removeUnused(gone);
    }
  }

  async #writeGroup(closed: ClosedGeneration, waiting: TableStore[]): Promise<readonly Flushed[]> {
    const { duckDb, maxGroupTables, mustStop } = this.#deps;
    const { groupBytes } = duckDb.tableMemory;
    const flushed: Flushed[] = [];
    let duckDbBytes = 0;
    try {
      while (flushed.length < maxGroupTables && duckDbBytes < groupBytes) {
        if (mustStop() && flushed.length > 0) break;
        const store = waiting.shift();
        if (store === undefined) break;
        const result = await this.#flushTable(store, closed.number);
        if (result === undefined) continue;
        flushed.push({ store, result });
        const table = store.generation(closed.number);
        duckDbBytes += Math.max(table?.duckDbBytes ?? 0, table?.cellBytes ?? 0);
      }
    } catch (error) {
      // The retry writes all of them again.
      await this.#removeUnused(flushed);
      throw error;
    }
    return flushed;
  }

  /**
   * Returns `undefined` if the table has no rows in the generation, or was deleted during the
   * write.
   */
  async #flushTable(store: TableStore, generation: number): Promise<FlushedTable | undefined> {
    const table = store.generation(generation);
    if (table === undefined || store.isBeingRemoved) return undefined;
    try {
      return await flushTable(store, table, this.#deps.duckDb, this.#deps.files);
    } catch (error) {
      if (store.isBeingRemoved) return undefined;
      throw error;
    }
  }

  /** Removes files that were not registered. */
  async #removeUnused(flushed: readonly Flushed[]): Promise<void> {
    await this.#deps.files.removeUnregistered(
      flushed.flatMap(({ result }) => [result.segments, result.seriesFile ?? []].flat()),
    );
  }
}

function postCommitUpdateOf(
  store: TableStore,
  { number }: ClosedGeneration,
  { segments, seriesFile, storedSeries }: FlushedTable,
): PostCommitUpdate {
  return store.postCommitUpdate({
    flushed: number,
    added: segments.map((segment) => store.openVerified(segment)),
    storedSeries: { count: storedSeries, file: seriesFile },
  });
}
