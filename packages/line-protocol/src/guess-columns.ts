import { headerNames, readCsv, type Separator } from './csv-records.js';
import { type FieldType, isNumber, NumberColumn } from './field-type.js';
import { readTimeNs } from './time-text.js';

/** Guessed role and type of a column, from the first rows of a file. */
export interface ColumnGuess {
  readonly name: string;
  /** `out` if the column is empty. */
  readonly role: 'time' | 'tag' | 'field' | 'out';
  /** Type of the column as a field, even if its role is another. */
  readonly type: FieldType;
  readonly examples: readonly string[];
  /** First invalid timestamp in a column whose name suggests a time. */
  readonly notTime?: { readonly line: number; readonly text: string };
  /**
   * Numbers with decimal commas. `1,500` may mean 1.5 or 1500, so such values are not read as
   * numbers.
   */
  readonly hasDecimalCommas?: true;
}

export interface CsvHead {
  readonly columns: readonly ColumnGuess[];
  /** Columns without a name, or with the name of an earlier column. */
  readonly namelessCount: number;
  readonly rowCount: number;
  readonly separator: Separator;
}

const EXAMPLE_COUNT = 3;
const MAX_EXAMPLE_LENGTH = 40;
/**
 * A string column with at most this many distinct values is a tag, however few rows there are. A
 * surplus tag costs less than a missing one.
 */
const FEW_VALUES = 20;
/**
 * With more rows per distinct value than this, on average, the column identifies a recurring thing
 * and is a tag.
 */
const ROWS_PER_VALUE = 10;
/** Share of values that must match a type; the few that do not match are reported. */
const MAJORITY = 0.9;
/** Distinct values are counted up to this limit. */
const MAX_VALUE_COUNT = 1000;
const MAX_TAG_LENGTH = 100;
const DECIMAL_COMMA = /^-?\d+,\d+$/;
const TIME_NAME = /^_?(?:time|times?tamp|date|date[ _-]?time|ts|at)$|[ _-](?:time|at)$/i;

/** Reads the header and the first rows of a CSV file. Throws `CsvFault`. */
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

/** Prefers date columns. A number column is the time only if its name suggests it. */
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
    return count > 0 && count >= this.#filledCount * MAJORITY;
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
