import type { GenerationTable } from '../table/generation-table.js';
import type { TableStore } from '../table/table-store.js';

/**
 * Files of smaller tables are mostly metadata, and writing two of them takes as long as writing
 * thousands of rows.
 */
const SMALL_BYTES = 64 * 1024;
/**
 * If the log contains rows of a table at startup, the table's series are read first. A million series take several seconds.
 */
const FEW_SERIES = 10_000;
/**
 * Maximum log size with kept rows, because the log is read at startup. If the process is killed
 * between two flushes, the same amount remains.
 */
const MAX_LOG_BYTES = 128 * 1024 * 1024;
/** Fraction of the flush size: kept rows must not trigger the next flush. */
const MAX_KEPT_SHARE = 0.25;

/**
 * Chooses the tables that a flush leaves to the next one: their rows stay in memory and in the log
 * (ADR 0145).
 */
export function tablesToKeep(options: {
  readonly stores: Iterable<TableStore>;
  /** The generation that is flushed. */
  readonly generation: number;
  readonly flushBytes: number;
  /**
   * Maximum number of small tables that are flushed anyway, oldest rows first. If there are few,
   * each is flushed at its age limit.
   */
  readonly maxSmallTables: number;
  readonly logBytes: number;
  /** True if buffered rows leave DuckDB little memory. Tables with rows in DuckDB are then flushed. */
  readonly isCrowded: boolean;
}): readonly GenerationTable[] {
  if (options.logBytes > MAX_LOG_BYTES) return [];
  const small: GenerationTable[] = [];
  for (const store of options.stores) {
    const table = store.generation(options.generation);
    // Deletions are carried out, and refused rows dropped, when rows are written to files.
    if (table === undefined || store.isBeingRemoved || store.tombstones.all.length > 0) continue;
    if (hasManySeries(store)) continue;
    if (table.sizeBytes >= SMALL_BYTES || (options.isCrowded && table.duckDbBytes > 0)) continue;
    small.push(table);
  }
  small.sort((a, b) => (a.minSeq < b.minSeq ? -1 : 1));
  let keptBytes = small.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let taken = 0;
  for (const { sizeBytes } of small) {
    if (taken >= options.maxSmallTables && keptBytes <= options.flushBytes * MAX_KEPT_SHARE) break;
    keptBytes -= sizeBytes;
    taken++;
  }
  return small.slice(taken);
}

export const hasManySeries = ({ series }: TableStore): boolean => series.index.count > FEW_SERIES;
