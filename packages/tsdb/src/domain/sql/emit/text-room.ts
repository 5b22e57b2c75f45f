import type { SqlType } from '../../../model/sql-type.js';
import type { BoundExpr } from '../bound-expr.js';
import { quoteName } from './quote.js';
import { sizeText, spineText } from './value-size.js';

/**
 * Bytes that texts and lists made of rows may have in 2,048 of them, in all expressions of a statement together: the engine holds
 * them outside of its memory limit and stops for nothing before all of them are made. Each of its threads may hold so much.
 */
export const TEXT_ROOM_BYTES = 128 * 1024 * 1024;
const ROW_COUNT = 2048;
/** Of one row; rows of less are not counted. */
const ROW_BYTES = TEXT_ROOM_BYTES / ROW_COUNT;
/** More than one value of those that are made of short ones may have: whoever makes it refuses it. */
const MAX_COUNTED_BYTES = 1024 * 1024;
/** Literals of so many characters may be repeated for every row. */
const SHORT_LITERAL_LENGTH = 1024;

/** Stands for the number of expressions that share the room until all are known; quoted user text never holds a NUL. */
const SHARERS_MARK = '\0sharers\0';

/** Rows of long texts are counted on the main thread (`plinth_has_room`), which costs nothing where there are none. */
export const TEXT_ROOM_MACROS: readonly string[] = [
  `CREATE OR REPLACE MACRO plinth_room(s, sharers) AS CASE
     WHEN strlen(s) > ${ROW_BYTES} // sharers AND NOT plinth_has_room(strlen(s), sharers) THEN NULL ELSE s END`,
  // The texts of a list are looked at when there is room for the list itself.
  `CREATE OR REPLACE MACRO plinth_room_of(spine, size, s, sharers) AS CASE
     WHEN spine > ${ROW_BYTES} // sharers AND NOT plinth_has_room(CAST(spine AS BIGINT), sharers) THEN NULL
     WHEN size > ${ROW_BYTES} // sharers AND NOT plinth_has_room(CAST(size AS BIGINT), sharers) THEN NULL ELSE s END`,
  `CREATE OR REPLACE MACRO plinth_room_for(size, s, sharers) AS CASE
     WHEN size > ${ROW_BYTES} // sharers AND size <= ${MAX_COUNTED_BYTES}
       AND NOT plinth_has_room(CAST(size AS BIGINT), sharers) THEN NULL ELSE s END`,
  `CREATE OR REPLACE MACRO plinth_answer(spine, size, s, sharers) AS CASE
     WHEN spine > ${ROW_BYTES} // sharers
       AND NOT plinth_has_answer_room(CAST(spine AS BIGINT), plinth_answer_bytes() // sharers) THEN NULL
     WHEN size > ${ROW_BYTES} // sharers
       AND NOT plinth_has_answer_room(CAST(size AS BIGINT), plinth_answer_bytes() // sharers) THEN NULL ELSE s END`,
  `CREATE OR REPLACE MACRO plinth_repeated(size, s) AS CASE
     WHEN size > plinth_answer_bytes() // ${ROW_COUNT}
     THEN error('Resources exhausted: a text or list of ' || size || ' bytes as the argument of a window function, which may put it into every row: ' ||
       'it may have ' || plinth_answer_bytes() // ${ROW_COUNT} || ' bytes (tsdb.query_memory_bytes sets how many)') ELSE s END`,
];

/** Macro that tells what texts and lists of an answer may have in 2,048 rows, when they are not stored as they are. */
export function answerRoomMacro(roomBytes: number): string {
  return `CREATE OR REPLACE MACRO plinth_answer_bytes() AS ${roomBytes}`;
}

/** Each thread of the engine may hold an answer's rows, and they are copied once on their way out. */
export function answerRoomOf(memoryBytes: number, threadCount: number): number {
  return Math.max(TEXT_ROOM_BYTES, Math.floor(memoryBytes / Math.max(2, threadCount)));
}

/** Counts expressions that make texts and lists of rows. */
export class TextMakers {
  #count = 0;

  /** `args` of a function that makes something of them, which fail when they are too long to be made into others. */
  add(args: readonly BoundExpr[]): readonly BoundExpr[] {
    this.#count++;
    return args.map((arg) => {
      const size = arg.isMadeText || arg.constant ? undefined : sizeText(arg.text, arg.type);
      if (size === undefined) return arg;
      const text =
        arg.type.kind === 'utf8'
          ? `plinth_room(${arg.text}, ${SHARERS_MARK})`
          : `plinth_room_of(${spineText(arg.text, arg.type)}, ${size}, ${arg.text}, ${SHARERS_MARK})`;
      return { ...arg, text };
    });
  }

  /** `text` with the number of all that were added. */
  shared(text: string): string {
    return text.replaceAll(SHARERS_MARK, String(this.#count));
  }
}

/** `text`, unless what is made of it has more bytes than there is room for. */
export function roomFor(sizeBytes: string, text: string): string {
  return `plinth_room_for(${sizeBytes}, ${text}, ${SHARERS_MARK})`;
}

/** Arguments of a window function that puts one of them into each row: a frame may have the same value for all. */
export function repeated(args: readonly BoundExpr[]): readonly BoundExpr[] {
  return args.map((arg) => {
    const { value } = arg.constant ?? {};
    const isShort =
      arg.constant && !(typeof value === 'string' && value.length > SHORT_LITERAL_LENGTH);
    const size = isShort ? undefined : sizeText(arg.text, arg.type);
    return size === undefined ? arg : { ...arg, text: `plinth_repeated(${size}, ${arg.text})` };
  });
}

/** A column of an answer. `isOnce`: no value is there for more than one row but where it is stored so, or it was counted. */
interface AnswerColumn {
  readonly engineName: string;
  readonly type: SqlType;
  readonly isOnce?: boolean;
}

/** The query of an answer, which fails when 2,048 rows of it have more texts and lists than there is room for. */
export function withAnswerRoom(text: string, columns: readonly AnswerColumn[]): string {
  const shown = columns.map(({ engineName, type, isOnce }) => {
    const name = quoteName(engineName);
    const size = isOnce ? undefined : sizeText(name, type);
    if (size === undefined) return name;
    return `plinth_answer(${spineText(name, type)}, ${size}, ${name}, ${SHARERS_MARK}) AS ${name}`;
  });
  const sharerCount = shown.filter((column) => column.includes(SHARERS_MARK)).length;
  if (sharerCount === 0) return text;
  const list = shown.join(', ').replaceAll(SHARERS_MARK, String(sharerCount));
  return `SELECT ${list} FROM (${text})`;
}
