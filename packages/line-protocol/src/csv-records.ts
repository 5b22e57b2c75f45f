import { CsvFault } from './csv-fault.js';

/** One record of a CSV file and the line it starts on (from 1). */
export interface CsvRecord {
  /** `undefined` for a cell that is empty and unquoted. */
  readonly cells: readonly (string | undefined)[];
  readonly line: number;
  /** Separator of the cells in this file. */
  readonly separator: Separator;
}

/** A row that could not be converted into a point. */
export interface RefusedRow {
  readonly line: number;
  readonly message: string;
  /** Groups rows with the same kind of fault. Default: `message`. */
  readonly kind?: string;
}

export type Separator = ',' | ';' | '\t';

const SEPARATORS: readonly Separator[] = [',', ';', '\t'];
/** Same limit as for a line of line protocol; no server accepts longer ones. */
const MAX_ROW_LENGTH = 10_485_760;
const MAX_VALUE_LENGTH = 4_194_304;
/** Far above the column limit of a table. */
const MAX_VALUE_COUNT = 10_000;
/** If the first line is longer, its first characters determine the separator. */
const MAX_LOOK_LENGTH = 65_536;

export const headerNames = (header: CsvRecord['cells']): readonly string[] =>
  header.map((name = '') => name);

/**
 * Reads RFC 4180: quoted cells may contain separators, doubled quotes and newlines. Empty lines and
 * a leading byte order mark are skipped.
 * A line with an unclosed quote, or with text after a closing quote, is a refused row; reading
 * continues with the next line.
 * Throws `CsvFault` for a row beyond the limits, and for a header that is refused.
 * @param separator default: the most frequent separator in the first line
 */
export async function* readCsv(
  input: AsyncIterable<Uint8Array>,
  separator?: Separator,
): AsyncGenerator<CsvRecord | RefusedRow> {
  const decoder = new TextDecoder('utf-8');
  const reader = new CsvReader(separator);
  for await (const part of input) {
    for (const record of reader.read(decoder.decode(part, { stream: true }))) yield record;
  }
  for (const record of reader.read(decoder.decode(), true)) yield record;
}

/** Most frequent separator outside quotes, in the first line that is not empty. */
function separatorOf(text: string): Separator {
  const line = /[^\r\n]+/.exec(text.replaceAll(/"[^"]*"?/g, ''))?.[0] ?? '';
  const countOf = (char: string): number => line.split(char).length;
  return SEPARATORS.reduce((most, each) => (countOf(each) > countOf(most) ? each : most));
}

class CsvReader {
  readonly #token = /[^",;\t\r\n]+|[",;\t\r\n]/g;
  #separator: Separator | undefined;
  /** Text read before the separator is known. */
  #head = '';
  #hasNames = false;
  #state: 'plain' | 'quoted' | 'after-quote' | 'refused' = 'plain';
  #cells: (string | undefined)[] = [];
  #cell = '';
  #isQuoted = false;
  #rowLength = 0;
  #line = 1;
  #startLine = 1;
  /** Text of the current record after its first line. */
  #laterLines: string | undefined;
  #readLength = 0;
  #readAgainLength = 0;

  constructor(separator: Separator | undefined) {
    this.#separator = separator;
  }

  *read(part: string, isLast = false): Generator<CsvRecord | RefusedRow> {
    let text = this.#head + part;
    this.#readLength += part.length;
    if (this.#separator === undefined) {
      const isKnown = isLast || text.length > MAX_LOOK_LENGTH || /[^\r\n]\r?\n/.test(text);
      this.#head = isKnown ? '' : text;
      if (text.includes('\0'))
        throw new CsvFault('bad_csv', 'the file contains NUL characters; use a text file');
      if (!isKnown) return;
      this.#separator = separatorOf(text.slice(0, MAX_LOOK_LENGTH));
    }
    const waiting: { readonly text: string; readonly index: number }[] = [];
    for (;;) {
      // An empty token at the end of input ends a record, as a newline does.
      const token = this.#token.exec(text)?.[0] ?? '';
      const next = token === '' ? waiting.pop() : undefined;
      if (next !== undefined) {
        text = next.text;
        this.#token.lastIndex = next.index;
        continue;
      }
      if (token === '' && !isLast) return;
      if (this.#laterLines !== undefined) this.#laterLines += token;
      if (token === '\n') this.#line += 1;
      if (this.#state === 'refused') {
        if (token === '\n') this.#startRecord(this.#line);
      } else if (this.#state === 'quoted' && token !== '') {
        if (token === '"') this.#state = 'after-quote';
        else this.#take(token);
        if (token === '\n') this.#laterLines ??= '';
      } else if (token === '"' && this.#state === 'after-quote') {
        this.#take('"');
        this.#state = 'quoted';
      } else if (token === '"' && this.#cell === '') {
        this.#state = 'quoted';
        this.#isQuoted = true;
      } else if (token === this.#separator) {
        this.#endCell();
        this.#state = 'plain';
      } else if (token === '\n' || (token === '' && this.#state !== 'quoted')) {
        const record = this.#endRecord(this.#separator);
        if (record !== undefined) yield record;
      } else if (token !== '\r' && this.#state === 'plain') {
        this.#take(token);
      } else if (token !== '\r') {
        yield this.#refusedRow(token);
        if (this.#laterLines === undefined) this.#state = 'refused';
        else {
          if (token !== '') waiting.push({ text, index: this.#token.lastIndex });
          text = this.#laterLines;
          this.#readAgain(text.length);
          continue;
        }
      }
      if (token === '') return;
    }
  }

  #refusedRow(token: string): RefusedRow {
    const isOpen = token === '' || this.#laterLines !== undefined;
    const message = isOpen ? 'unclosed quote' : 'text after a closing quote';
    return this.#hasNames ? { line: this.#startLine, message } : this.#fail(message);
  }

  /**
   * Rereads from the second line of the record. The total is limited, because each line may start a
   * record as long as the file.
   */
  #readAgain(length: number): void {
    this.#readAgainLength += length;
    if (this.#readAgainLength > this.#readLength + 2 * MAX_ROW_LENGTH)
      this.#fail('too many unclosed quotes');
    this.#token.lastIndex = 0;
    this.#startRecord(this.#startLine + 1);
  }

  #startRecord(line: number): void {
    this.#line = line;
    this.#startLine = line;
    this.#state = 'plain';
    this.#cells = [];
    this.#cell = '';
    this.#isQuoted = false;
    this.#rowLength = 0;
    this.#laterLines = undefined;
  }

  #take(text: string): void {
    this.#cell += text;
    this.#rowLength += text.length;
    if (this.#cell.length > MAX_VALUE_LENGTH) {
      const hint = this.#state === 'quoted' ? '; check for an unclosed quote' : '';
      this.#fail(`a value is longer than ${MAX_VALUE_LENGTH} characters${hint}`);
    }
    if (this.#rowLength > MAX_ROW_LENGTH)
      this.#fail(`the row is longer than ${MAX_ROW_LENGTH} characters`);
  }

  #endCell(): void {
    if (this.#cells.length === MAX_VALUE_COUNT)
      this.#fail(`the row has more than ${MAX_VALUE_COUNT} values`);
    this.#cells.push(this.#cell === '' && !this.#isQuoted ? undefined : this.#cell);
    this.#cell = '';
    this.#isQuoted = false;
  }

  #endRecord(separator: Separator): CsvRecord | undefined {
    this.#endCell();
    const cells = this.#cells;
    const line = this.#startLine;
    this.#startRecord(this.#line);
    if (cells.length === 1 && cells[0] === undefined) return undefined;
    this.#hasNames = true;
    return { cells, line, separator };
  }

  #fail(why: string): never {
    throw new CsvFault('bad_csv', `line ${this.#startLine}: ${why}`);
  }
}
