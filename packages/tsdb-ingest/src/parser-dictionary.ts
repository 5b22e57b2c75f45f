import { CellBudget, tooManyCells } from './columns/cell-budget.js';
import { TableRows } from './columns/table-rows.js';
import { SeriesDictionary } from './fast/series-dictionary.js';
import { type LineLimits, UNLIMITED } from './slow-path/parse-line.js';

export interface ParserLimits {
  /**
   * When the data about known databases exceeds a limit, all of it is dropped before the next body, which starts a new `epoch`.
   */
  readonly maxSeriesCount: number;
  readonly maxSizeBytes: number;
  /** Maximum number of cells (8 bytes each) in the columns of one body. */
  readonly maxCells: number;
  readonly line: LineLimits;
}

export const DEFAULT_LIMITS: ParserLimits = {
  maxSeriesCount: 4_000_000,
  maxSizeBytes: 512 * 1024 * 1024,
  maxCells: 32 * 1024 * 1024,
  line: UNLIMITED,
};

/** Approximate cost of a table (or database) and of a field, without rows. */
const TABLE_SIZE_BYTES = 8192;
const FIELD_SIZE_BYTES = 1024;

/** Data that a parser keeps about one database between bodies: its tables, fields and series. */
export interface DatabaseDictionary {
  readonly dictionary: SeriesDictionary;
  readonly tables: Map<string, TableRows>;
  /**
   * Dictionary entry of the previous line, initially -1: its follower is the guess for the next
   * line.
   */
  previousEntry: number;
}

/** The data that a parser keeps between bodies: tables, fields and series of every database. */
export class ParserDictionary {
  readonly #limits: ParserLimits;
  readonly #hashSeed: number;
  #budget: CellBudget;
  #databases = new Map<string, DatabaseDictionary>();
  #tables: TableRows[] = [];
  #epoch = 0;
  /**
   * Set when tables, fields or series were added: measuring all tables before every small body would cost more than
   * parsing it.
   */
  #hasGrown = false;
  readonly #noteGrowth = (): void => {
    this.#hasGrown = true;
  };

  constructor(limits: ParserLimits, hashSeed: number) {
    this.#limits = limits;
    this.#hashSeed = hashSeed;
    this.#budget = new CellBudget(limits.maxCells);
  }

  get lineLimits(): LineLimits {
    return this.#limits.line;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Returns the tables of all databases, by `parserTable`. */
  get tables(): readonly TableRows[] {
    return this.#tables;
  }

  /** Returns the dictionary of a database, which is added if new. */
  database(name: string): DatabaseDictionary {
    let database = this.#databases.get(name);
    if (database === undefined) {
      const dictionary = new SeriesDictionary(this.#hashSeed);
      database = { dictionary, tables: new Map(), previousEntry: -1 };
      this.#databases.set(name, database);
      this.#noteGrowth();
    }
    return database;
  }

  /**
   * Returns the table with this name, which is added if new. Throws `LineRefused` if one body
   * contains too many new tables.
   */
  table(database: DatabaseDictionary, table: string): TableRows {
    let rows = database.tables.get(table);
    if (rows === undefined) {
      if (!this.#budget.take(TABLE_SIZE_BYTES / 8)) throw tooManyCells();
      rows = new TableRows(table, {
        parserTable: this.#tables.length,
        dictionary: database.dictionary,
        budget: this.#budget,
        noteGrowth: this.#noteGrowth,
      });
      this.#tables.push(rows);
      this.#noteGrowth();
      database.tables.set(table, rows);
    }
    return rows;
  }

  /** Called before every body. Clears all databases if they exceed a limit. */
  begin(bodyBytes: number): void {
    this.#budget.begin(bodyBytes);
    if (!this.#hasGrown) return;
    this.#hasGrown = false;
    let seriesCount = 0;
    let sizeBytes = 0;
    for (const { dictionary } of this.#databases.values()) {
      seriesCount += dictionary.count;
      sizeBytes += dictionary.sizeBytes + TABLE_SIZE_BYTES;
    }
    for (const table of this.#tables)
      sizeBytes += TABLE_SIZE_BYTES + table.slots.size * FIELD_SIZE_BYTES;
    if (seriesCount <= this.#limits.maxSeriesCount && sizeBytes <= this.#limits.maxSizeBytes)
      return;
    this.clear();
  }

  /** Clears all tables, fields and series. Their numbers are then invalid, so a new epoch starts. */
  clear(): void {
    this.#databases = new Map();
    this.#tables = [];
    this.#budget = new CellBudget(this.#limits.maxCells);
    this.#epoch++;
  }
}
