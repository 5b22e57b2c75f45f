import { headerNames, readCsv, type Separator } from './csv-records.js';
import { type FieldType, isNumber, NumberColumn } from './field-type.js';
import { readTimeNs } from './time-text.js';

/** What a column seems to be, by the first rows of a file. */
export interface ColumnGuess {
  readonly name: string;
  /** `out`: there is nothing in it. */
  readonly role: 'time' | 'tag' | 'field' | 'out';
  /** Of a field; what it would be where it is none. */
  readonly type: FieldType;
  readonly examples: readonly string[];
  /** The first value that is no time, of a column that is named like one. */
  readonly notTime?: { readonly line: number; readonly text: string };
  /** Numbers as `1,5`: `1,500` may be one and a half or fifteen hundred, so they are no numbers. */
  readonly hasDecimalCommas?: true;
}

export interface CsvHead {
  readonly columns: readonly ColumnGuess[];
  /** Columns without a name, or with one that another has before them. */
  readonly namelessCount: number;
  /** That were read. */
  readonly rowCount: number;
  readonly separator: Separator;
}

const EXAMPLE_COUNT = 3;
const MAX_EXAMPLE_LENGTH = 40;
/** A text with so few values is a tag however few rows there are: a tag too much costs less than one that is missing. */
const FEW_VALUES = 20;
/** With more rows than this for each value, on average, it names something that comes back. */
const ROWS_PER_VALUE = 10;
/** Of the values: a few that are wrong are told, and change nothing. */
const MOST = 0.9;
/** More are not counted. */
const MAX_VALUE_COUNT = 1000;
const MAX_TAG_LENGTH = 100;
const DECIMAL_COMMA = /^-?\d+,\d+$/;
const TIME_NAME = /^_?(?:time|times?tamp|date|date[ _-]?time|ts|at)$|[ _-](?:time|at)$/i;

/** Reads the header and the first rows. Throws `CsvFault`. */
export async function readCsvHead(
  input: AsyncIterable<Uint8Array>,
  maxRowCount: number,
): Promise<CsvHead> {
  let columns: readonly Column[] | undefined;
  let namelessCount = 0;
  let rowCount = 0;
  let separator: Separator = ',';
  for await (const record of readCsv(input)) {
    if ('message' in record) continue;
    const { cells, line } = record;
    if (columns === undefined) {
      separator = record.separator;
      const names = headerNames(cells);
      columns = names.flatMap((name, index) =>
        name === '' || names.indexOf(name) < index ? [] : [new Column(name, index)],
      );
      namelessCount = names.length - columns.length;
      continue;
    }
    for (const column of columns) column.add(cells[column.index] ?? '', line);
    rowCount += 1;
    if (rowCount === maxRowCount) break;
  }
  const known = columns ?? [];
  const time = timeOf(known);
  const guesses = known.map((column) => column.guess(column === time));
  return { columns: guesses, namelessCount, rowCount, separator };
}

/** Dates before numbers, which are times only where their name says so. */
function timeOf(columns: readonly Column[]): Column | undefined {
  const isNamed = (column: Column): boolean => column.isNamedTime;
  const dates = columns.filter(({ areDates }) => areDates);
  const numbers = columns.filter(({ numberType }) => numberType === 'int');
  const named = dates.find(isNamed) ?? columns.find((each) => isNamed(each) && each.hasDates);
  return named ?? dates[0] ?? numbers.find(isNamed);
}

class Column {
  readonly name: string;
  readonly index: number;
  readonly #numbers = new NumberColumn();
  #numberCount = 0;
  readonly #values = new Set<string>();
  #filledCount = 0;
  #dateCount = 0;
  #commaCount = 0;
  #areBooleans = true;
  #canBeTag = true;
  readonly isNamedTime: boolean;
  #notTime: ColumnGuess['notTime'];

  constructor(name: string, index: number) {
    this.name = name;
    this.index = index;
    this.isNamedTime = TIME_NAME.test(name);
  }

  add(cell: string, line: number): void {
    if (cell === '') return;
    this.#filledCount += 1;
    if (isNumber(cell.trim())) {
      this.#numbers.add(cell);
      this.#numberCount += 1;
    } else if (readTimeNs(cell.trim(), 'rfc3339') !== undefined) this.#dateCount += 1;
    else if (DECIMAL_COMMA.test(cell.trim())) this.#commaCount += 1;
    if (this.isNamedTime && readTimeNs(cell.trim(), 'auto') === undefined)
      this.#notTime ??= { line, text: cut(cell) };
    this.#areBooleans &&= /^(?:true|false)$/i.test(cell.trim());
    this.#canBeTag &&= cell.length <= MAX_TAG_LENGTH && !/[\t\r\n]/.test(cell);
    if (this.#values.size < MAX_VALUE_COUNT) this.#values.add(cell);
  }

  get areDates(): boolean {
    return this.#isMost(this.#dateCount);
  }

  get hasDates(): boolean {
    return this.#dateCount > 0;
  }

  get numberType(): FieldType | undefined {
    return this.#isMost(this.#numberCount) ? this.#numbers.type : undefined;
  }

  get #hasDecimalCommas(): boolean {
    return this.#commaCount > 0 && this.#isMost(this.#commaCount + this.#numberCount);
  }

  #isMost(count: number): boolean {
    return count > 0 && count >= this.#filledCount * MOST;
  }

  guess(isTime: boolean): ColumnGuess {
    return {
      name: this.name,
      role: isTime ? 'time' : this.#role,
      type: this.numberType ?? (this.#filledCount > 0 && this.#areBooleans ? 'bool' : 'string'),
      examples: [...this.#values].slice(0, EXAMPLE_COUNT).map(cut),
      ...(this.#notTime && { notTime: this.#notTime }),
      ...(this.#hasDecimalCommas && { hasDecimalCommas: true }),
    };
  }

  get #role(): 'tag' | 'field' | 'out' {
    if (this.#filledCount === 0) return 'out';
    const isText = this.numberType === undefined && !this.#areBooleans && !this.areDates;
    const isFew =
      this.#values.size <= FEW_VALUES ||
      (this.#values.size < MAX_VALUE_COUNT &&
        this.#values.size * ROWS_PER_VALUE <= this.#filledCount);
    return isText && isFew && this.#canBeTag ? 'tag' : 'field';
  }
}

const cut = (text: string): string =>
  text.length > MAX_EXAMPLE_LENGTH ? `${text.slice(0, MAX_EXAMPLE_LENGTH)}…` : text;
