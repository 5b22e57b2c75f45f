/** One record of a CSV file and the line it starts on (from 1). */
export interface CsvRecord {
  readonly cells: readonly string[];
  readonly line: number;
}

/** Reads RFC 4180: quoted cells may hold commas, doubled quotes and newlines; empty lines are skipped. */
export async function* readCsv(input: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRecord> {
  const decoder = new TextDecoder('utf-8');
  let cells: string[] = [];
  let cell = '';
  let line = 1;
  let startLine = 1;
  let state: 'plain' | 'quoted' | 'after-quote' = 'plain';
  const endRecord = (): CsvRecord | undefined => {
    const record = { cells: [...cells, cell], line: startLine };
    cells = [];
    cell = '';
    startLine = line;
    return record.cells.length === 1 && record.cells[0] === '' ? undefined : record;
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
      } else if (char === ',') {
        cells.push(cell);
        cell = '';
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
