/** The reasons why a row is refused, for all protocols. */
export const REFUSAL_REASONS = [
  /** The row is not valid in its protocol. */
  'syntax',
  /** A column has another type, or is a tag and not a field. */
  'type_conflict',
  /** A tag or field has the name of a reserved column. */
  'reserved_name',
  /** The table was deleted, and its name is still in use. */
  'deleted_table',
  /** The row uses the former name of a renamed table or column. */
  'renamed',
  /** A limit on tables, columns, tags or sizes was exceeded. */
  'limit',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** A row that was not written. */
export interface RefusedLine {
  readonly lineNumber: number;
  /** Complete line without its newline, cut to 1024 bytes at a character boundary. */
  readonly originalLine: string;
  readonly message: string;
  /** If the reason is a limit, the response status is 422. */
  readonly reason: RefusalReason;
}

/** Maximum number of refused lines in a response. */
export const MAX_REFUSED_LINES = 1000;
