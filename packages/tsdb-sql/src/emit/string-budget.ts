import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { BoundExpr } from '../bound-expr.js';
import { quoteName } from './quote.js';
import { listBytesText, sizeText } from './value-size.js';

/**
 * Maximum bytes of computed strings and lists in 2,048 rows, across all expressions of a statement.
 * DuckDB allocates them outside its memory limit, without interruption, and each of its threads may
 * use this much.
 */
export const STRING_BUDGET_BYTES = 128 * 1024 * 1024;
const ROW_COUNT = 2048;
/** Share of one row; smaller rows are not counted. */
const ROW_BYTES = STRING_BUDGET_BYTES / ROW_COUNT;
/**
 * Maximum size of a computed value that counts against the limit. Functions reject larger results
 * themselves.
 */
const MAX_COUNTED_BYTES = 1024 * 1024;
/** Literals up to this length may be repeated in every row. */
const SHORT_LITERAL_LENGTH = 1024;

/**
 * Placeholder for the number of expressions that share the limit. It contains NUL, which quoted
 * user text never does.
 */
const PRODUCERS_MARK = '\0producers\0';

/**
 * `plinth_has_budget` counts rows with long strings on the main thread; without long strings it is
 * never called.
 */
export const STRING_BUDGET_MACROS: readonly string[] = [
  `CREATE OR REPLACE MACRO plinth_within_budget(s, producers) AS CASE
     WHEN strlen(s) > ${ROW_BYTES} // producers AND NOT plinth_has_budget(strlen(s), producers) THEN NULL ELSE s END`,
  // `list_bytes` is the size of a list without its strings, which are measured only if the list itself fits.
  `CREATE OR REPLACE MACRO plinth_list_within_budget(list_bytes, size, s, producers) AS CASE
     WHEN list_bytes > ${ROW_BYTES} // producers AND NOT plinth_has_budget(CAST(list_bytes AS BIGINT), producers) THEN NULL
     WHEN size > ${ROW_BYTES} // producers AND NOT plinth_has_budget(CAST(size AS BIGINT), producers) THEN NULL ELSE s END`,
  `CREATE OR REPLACE MACRO plinth_made_within_budget(size, s, producers) AS CASE
     WHEN size > ${ROW_BYTES} // producers AND size <= ${MAX_COUNTED_BYTES}
       AND NOT plinth_has_budget(CAST(size AS BIGINT), producers) THEN NULL ELSE s END`,
  `CREATE OR REPLACE MACRO plinth_result_within_budget(list_bytes, size, s, producers) AS CASE
     WHEN list_bytes > ${ROW_BYTES} // producers
       AND NOT plinth_has_result_budget(CAST(list_bytes AS BIGINT), plinth_result_bytes() // producers) THEN NULL
     WHEN size > ${ROW_BYTES} // producers
       AND NOT plinth_has_result_budget(CAST(size AS BIGINT), plinth_result_bytes() // producers) THEN NULL ELSE s END`,
  `CREATE OR REPLACE MACRO plinth_repeated(size, s) AS CASE
     WHEN size > plinth_result_bytes() // ${ROW_COUNT}
     THEN error('Resources exhausted: argument of ' || size || ' bytes for a window function, which may copy it to every row; at most ' ||
       plinth_result_bytes() // ${ROW_COUNT} || ' bytes are allowed (set by tsdb.query_memory_bytes)') ELSE s END`,
];

/** Returns the macro with the byte limit for computed strings and lists in 2,048 result rows. */
export function resultBudgetMacro(budgetBytes: number): string {
  return `CREATE OR REPLACE MACRO plinth_result_bytes() AS ${budgetBytes}`;
}

/**
 * Returns the byte limit of result rows. Each DuckDB thread may store them, and they are copied
 * once more on output.
 */
export function resultBudgetOf(memoryBytes: number, threadCount: number): number {
  return Math.max(STRING_BUDGET_BYTES, Math.floor(memoryBytes / Math.max(2, threadCount)));
}

/** Counts expressions that create strings and lists. */
export class StringBudget {
  #count = 0;

  /**
   * Registers a function that creates a value from `args`. The returned arguments raise an error if
   * they are too long.
   */
  add(args: readonly BoundExpr[]): readonly BoundExpr[] {
    this.#count++;
    return args.map((arg) => {
      const size = arg.isCountedString || arg.constant ? undefined : sizeText(arg.text, arg.type);
      if (size === undefined) return arg;
      const text =
        arg.type.kind === 'utf8'
          ? `plinth_within_budget(${arg.text}, ${PRODUCERS_MARK})`
          : `plinth_list_within_budget(${listBytesText(arg.text, arg.type)}, ${size}, ${arg.text}, ${PRODUCERS_MARK})`;
      return { ...arg, text };
    });
  }

  /** Replaces the placeholder in `text` with the number of registered expressions. */
  insertProducerCount(text: string): string {
    return text.replaceAll(PRODUCERS_MARK, String(this.#count));
  }
}

/** Returns `text`, which raises an error if the result would exceed the limit. */
export function withinStringBudget(sizeBytes: string, text: string): string {
  return `plinth_made_within_budget(${sizeBytes}, ${text}, ${PRODUCERS_MARK})`;
}

/** Guards the arguments of a window function, which may copy one value to all rows of a frame. */
export function repeated(args: readonly BoundExpr[]): readonly BoundExpr[] {
  return args.map((arg) => {
    const { value } = arg.constant ?? {};
    const isShort =
      arg.constant && !(typeof value === 'string' && value.length > SHORT_LITERAL_LENGTH);
    const size = isShort ? undefined : sizeText(arg.text, arg.type);
    return size === undefined ? arg : { ...arg, text: `plinth_repeated(${size}, ${arg.text})` };
  });
}

/**
 * A result column. `isSizeChecked` means that each value is stored in its row or was counted when created.
 */
interface ResultColumn {
  readonly duckDbName: string;
  readonly type: SqlType;
  readonly isSizeChecked?: boolean;
}

/**
 * Wraps the query so that it raises an error if 2,048 result rows exceed the limit for strings and
 * lists.
 */
export function withResultSizeLimit(text: string, columns: readonly ResultColumn[]): string {
  const shown = columns.map(({ duckDbName, type, isSizeChecked }) => {
    const name = quoteName(duckDbName);
    const size = isSizeChecked ? undefined : sizeText(name, type);
    if (size === undefined) return name;
    return `plinth_result_within_budget(${listBytesText(name, type)}, ${size}, ${name}, ${PRODUCERS_MARK}) AS ${name}`;
  });
  const producerCount = shown.filter((column) => column.includes(PRODUCERS_MARK)).length;
  if (producerCount === 0) return text;
  const list = shown.join(', ').replaceAll(PRODUCERS_MARK, String(producerCount));
  return `SELECT ${list} FROM (${text})`;
}
