import type { BoundExpr } from '../bound-expr.js';

/**
 * Bytes that texts made of rows may have in 2,048 of them, in all expressions of a statement together: the engine holds them
 * outside of its memory limit and stops for nothing before all of them are made. Each of its threads may hold so much.
 */
export const TEXT_ROOM_BYTES = 128 * 1024 * 1024;
/** Of one row; rows of less are not counted. */
const ROW_BYTES = TEXT_ROOM_BYTES / 2048;
/** More than one value of those that are made of short ones may have: whoever makes it refuses it. */
const MAX_COUNTED_BYTES = 1024 * 1024;

/** Stands for the number of expressions that share the room until all are known; quoted user text never holds a NUL. */
const SHARERS_MARK = '\0sharers\0';

/** Rows of long texts are counted on the main thread (`plinth_has_room`), which costs nothing where there are none. */
export const TEXT_ROOM_MACROS: readonly string[] = [
  `CREATE OR REPLACE MACRO plinth_room(s, sharers) AS CASE
     WHEN strlen(s) > ${ROW_BYTES} // sharers AND NOT plinth_has_room(strlen(s), sharers) THEN NULL ELSE s END`,
  `CREATE OR REPLACE MACRO plinth_room_for(size, s, sharers) AS CASE
     WHEN size > ${ROW_BYTES} // sharers AND size <= ${MAX_COUNTED_BYTES}
       AND NOT plinth_has_room(CAST(size AS BIGINT), sharers) THEN NULL ELSE s END`,
];

/** Counts expressions that make texts of rows. */
export class TextMakers {
  #count = 0;

  /** `args` of a function that makes a text of them, which fail when their texts are too long to be made into others. */
  add(args: readonly BoundExpr[]): readonly BoundExpr[] {
    this.#count++;
    return args.map((arg) => {
      const isLong = arg.type.kind === 'utf8' && arg.constant === undefined && !arg.isMadeText;
      return isLong ? { ...arg, text: `plinth_room(${arg.text}, ${SHARERS_MARK})` } : arg;
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
