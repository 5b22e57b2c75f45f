import { CsvFault } from './csv-fault.js';

/** One record of a CSV file and the line it starts on (from 1). */
export interface CsvRecord {
  /** `undefined`: nothing stands there, not even quotes. */
  readonly cells: readonly (string | undefined)[];
  readonly line: number;
}

/** As of lines of line protocol: no server takes longer ones. */
const MAX_ROW_LENGTH = 10_485_760;
const MAX_VALUE_LENGTH = 4_194_304;
/** Far more than a table may have columns. */
const MAX_VALUE_COUNT = 10_000;

/** Names in the first line; some programs put a mark before it. */
export function headerNames(header: CsvRecord['cells']): readonly string[] {
  return header.map((name = '', index) => (index === 0 ? name.replace(/^\uFEFF/, '') : name));
}

/**
 * Reads RFC 4180: quoted cells may hold commas, doubled quotes and newlines; empty lines are skipped.
 * Throws `CsvFault` for a row beyond the bounds.
 */
export async function* readCsv(input: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRecord> {
  const decoder = new TextDecoder('utf-8');
  let cells: (string | undefined)[] = [];
  let cell = '';
  let isQuoted = false;
  let line = 1;
  let startLine = 1;
  let state: 'plain' | 'quoted' | 'after-quote' = 'plain';
  let rowLength = 0;
  const refuse = (why: string): never => {
    throw new CsvFault('bad_csv', `line ${startLine}: ${why}`);
  };
  const take = (char: string): void => {
    cell += char;
    rowLength += char.length;
    if (cell.length > MAX_VALUE_LENGTH) {
      const hint = state === 'quoted' ? '; does a quote never end?' : '';
      refuse(`a value is longer than ${MAX_VALUE_LENGTH} characters${hint}`);
    }
    if (rowLength > MAX_ROW_LENGTH) refuse(`the row is longer than ${MAX_ROW_LENGTH} characters`);
  };
  const endCell = (): void => {
    if (cells.length === MAX_VALUE_COUNT) refuse(`the row has more than ${MAX_VALUE_COUNT} values`);
    cells.push(cell === '' && !isQuoted ? undefined : cell);
    cell = '';
    isQuoted = false;
  };
  const endRecord = (): CsvRecord | undefined => {
    endCell();
    const record = { cells, line: startLine };
    cells = [];
    rowLength = 0;
    startLine = line;
    return record.cells.length === 1 && record.cells[0] === undefined ? undefined : record;
  };
  for await (const part of input) {
    for (const char of decoder.decode(part, { stream: true })) {
      if (char === '\n') line += 1;
      if (state === 'quoted') {
        if (char === '"') state = 'after-quote';
        else take(char);
      } else if (char === '"' && state === 'after-quote') {
        take('"');
        state = 'quoted';
      } else if (char === '"' && cell === '') {
        state = 'quoted';
        isQuoted = true;
      } else if (char === ',') {
        endCell();
        state = 'plain';
      } else if (char === '\n') {
        state = 'plain';
        const record = endRecord();
        if (record) yield record;
      } else if (char !== '\r') {
        take(char);
      }
    }
  }
  const last = endRecord();
  if (last) yield last;
}
