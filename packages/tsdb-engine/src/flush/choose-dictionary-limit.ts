import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { quoteName } from '@plinth/tsdb-model/text/quote.js';
import { isOutOfMemory } from '@plinth/tsdb-storage/duckdb/instance/memory-watch.js';
import type { DictionaryLimit, SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';

const SAMPLE_ROWS = 40_960;
/** Fewer rows skip the trial, which takes about a tenth of the time of writing this many. */
const MIN_ROWS = 10 * SAMPLE_ROWS;

/** A source of sample rows that are similar to the rows that will be written. */
export interface SampleSource {
  /** SQL text for FROM. */
  readonly from: string;
  readonly rowCount: number;
  readonly columns: readonly Column[];
}

/**
 * Chooses the dictionary limit of files with this many rows. The trial uses the rows of
 * some series. Series ids are evenly distributed, so the first ones are representative.
 */
export async function chooseDictionaryLimit(
  files: SegmentFiles,
  rowCount: number,
  sample: SampleSource,
): Promise<DictionaryLimit> {
  if (rowCount < MIN_ROWS || sample.rowCount < SAMPLE_ROWS) return 'default';
  const names = ['_series', '"time"', ...sample.columns.map((c) => quoteName(c.physicalName))];
  const upTo = `SELECT reservoir_quantile(_series, ${SAMPLE_ROWS / sample.rowCount}) FROM ${sample.from}`;
  const some = `SELECT ${names.join(', ')} FROM ${sample.from} WHERE _series <= (${upTo}) LIMIT ${SAMPLE_ROWS}`;
  try {
    return await files.tryDictionaryLimits(`SELECT * FROM (${some}) ORDER BY _series, "time"`);
  } catch (error) {
    if (isOutOfMemory(error)) return 'default'; // the rows may still be written in smaller files
    throw error;
  }
}
