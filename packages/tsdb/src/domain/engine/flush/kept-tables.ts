import type { GenerationTable } from '../table/generation-table.js';
import type { TableStore } from '../table/table-store.js';

/** A table with less has files that are mostly their own frame, and writing two of them takes as long as for thousands of rows. */
const SMALL_BYTES = 64 * 1024;
/** A start that finds rows of a table in the log reads its series first, a million in some seconds. */
const FEW_SERIES = 10_000;
/** A start reads what is left in the log: this is what a kill between two flushes leaves as well. */
const MAX_LOG_BYTES = 128 * 1024 * 1024;
/** Of the size at which rows are flushed: what is kept must not be the reason for the next flush. */
const MAX_KEPT_SHARE = 0.25;

/** Which tables a flush leaves to the next one: their rows stay in memory and in the log (ADR 0145). */
export function tablesToKeep(options: {
  readonly stores: Iterable<TableStore>;
  /** The generation that is flushed. */
  readonly generation: number;
  readonly flushBytes: number;
  /** So many small ones go into files all the same, oldest rows first: few tables wait no longer than the age says. */
  readonly maxSmallTables: number;
  readonly logBytes: number;
  /** Rows that queries have brought into the engine leave it little memory: they go. */
  readonly isCrowded: boolean;
}): readonly GenerationTable[] {
  if (options.logBytes > MAX_LOG_BYTES) return [];
  const small: GenerationTable[] = [];
  for (const store of options.stores) {
    const table = store.generation(options.generation);
    // What was deleted is carried out, and what was refused forgotten, when rows are written to files.
    if (table === undefined || store.isGone || store.tombstones.all.length > 0) continue;
    if (hasManySeries(store)) continue;
    if (table.sizeBytes >= SMALL_BYTES || (options.isCrowded && table.engineBytes > 0)) continue;
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
