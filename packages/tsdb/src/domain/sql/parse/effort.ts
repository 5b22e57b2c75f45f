/** What may be spent on the plan of one statement. Counted, not timed: the same statement is let through everywhere. */
export interface Effort {
  readonly maxTextLength: number;
  /** Blanks in a row. The parser skips them and comments one by one, without calls, each time it looks ahead. */
  readonly maxBlankRunLength: number;
  readonly maxCommentCount: number;
  /** Calls of functions within the parser, some fifty to a hundred thousand in a millisecond. */
  readonly parserFuel: number;
  /** Expressions and columns that are bound, some hundreds in a millisecond. */
  readonly maxBoundCount: number;
}

/** On the main thread: at most about ten milliseconds, which is some twenty times what dashboards need. */
export const EFFORT_HERE: Effort = {
  maxTextLength: 16_384,
  maxBlankRunLength: 64,
  maxCommentCount: 4,
  parserFuel: 400_000,
  maxBoundCount: 4000,
};

/** In a thread of its own: some seconds. */
export const EFFORT_IN_THREAD: Effort = {
  maxTextLength: Number.POSITIVE_INFINITY, // `checkDepth` has a limit
  maxBlankRunLength: Number.POSITIVE_INFINITY,
  maxCommentCount: Number.POSITIVE_INFINITY,
  parserFuel: 100_000_000,
  maxBoundCount: 500_000,
};

/** The statement needs more than it was given. */
export class EffortExceeded extends Error {
  override readonly name = 'EffortExceeded';
  constructor() {
    super('the statement takes more effort than it may');
  }
}
