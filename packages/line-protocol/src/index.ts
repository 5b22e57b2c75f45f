export {
  checkLines,
  type LineCheck,
  type LineProblem,
  type TableShape,
} from './check-lines.js';
export { CsvFault } from './csv-fault.js';
export { type CsvMapping, chunkCsv } from './csv-lines.js';
export { type RefusedRow, readCsv, type Separator } from './csv-records.js';
export { escapedKey, escapedTable, floatText, quotedText } from './escapes.js';
export { type FieldType, TYPE_NAMES } from './field-type.js';
export { findNumberColumns } from './find-number-columns.js';
export { type ColumnGuess, type CsvHead, readCsvHead } from './guess-columns.js';
export type { Chunk, CsvChunk } from './line-packer.js';
export { type Refusals, readRefusals } from './refusals.js';
export { readTimeNs, TIME_FORMATS, TIME_TEXTS, type TimeFormat } from './time-text.js';
