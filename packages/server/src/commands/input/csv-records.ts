/** One record of a CSV file and the line it starts on (from 1). */
export interface CsvRecord {
  /** `undefined`: nothing stands there, not even quotes. */
  readonly cells: readonly (string | undefined)[];
  readonly line: number;
}

/** Reads RFC 4180: quoted cells may hold commas, doubled quotes and newlines; empty lines are skipped. */
export async function* readCsv(input: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRecord> {
  const decoder = new TextDecoder('utf-8');
  let cells: (string | undefined)[] = [];
  let cell = '';
  let isQuoted = false;
  let line = 1;
  let startLine = 1;
  let state: 'plain' | 'quoted' | 'after-quote' = 'plain';
  const endCell = (): void => {
    cells.push(cell === '' && !isQuoted ? undefined : cell);
    cell = '';
    isQuoted = false;
  };
  const endRecord = (): CsvRecord | undefined => {
    endCell();
    const record = { cells, line: startLine };
    cells = [];
    startLine = line;
    return record.cells.length === 1 && record.cells[0] === undefined ? undefined : record;
  };
  for await (const part of input) {
    for (const char of decoder.decode(part, { stream: true })) {
      if (char === '\n') line += 1;
      if (state === 'quoted') {
        if (char === '"') state = 'after-quote';
        else cell += char;
      } else if (char === '"' && state === 'after-quote') {
        cell += '"';
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
        cell += char;
      }
    }
  }
  const last = endRecord();
  if (last) yield last;
}
