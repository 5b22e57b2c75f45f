/**
 * Limits for planning one statement. They count steps rather than time, so that each machine
 * accepts the same statements.
 */
export interface PlanningLimits {
  readonly maxTextLength: number;
  /**
   * Maximum run of white space. On each lookahead, the parser skips white space and comments one by
   * one without function calls.
   */
  readonly maxBlankRunLength: number;
  readonly maxCommentCount: number;
  /** Maximum function calls within the parser, which makes 50,000 to 100,000 per millisecond. */
  readonly parserFuel: number;
  /** Maximum number of bound expressions and columns; a few hundred take a millisecond. */
  readonly maxBoundCount: number;
}

/** On the main thread: at most about ten milliseconds, about twenty times what dashboards need. */
export const MAIN_THREAD_LIMITS: PlanningLimits = {
  maxTextLength: 16_384,
  maxBlankRunLength: 64,
  maxCommentCount: 4,
  parserFuel: 400_000,
  maxBoundCount: 4000,
};

/** In a planner thread: several seconds. */
export const PLANNER_THREAD_LIMITS: PlanningLimits = {
  maxTextLength: Number.POSITIVE_INFINITY, // limited by `checkDepth`
  maxBlankRunLength: Number.POSITIVE_INFINITY,
  maxCommentCount: Number.POSITIVE_INFINITY,
  parserFuel: 100_000_000,
  maxBoundCount: 500_000,
};

/** The statement needs more effort than allowed. */
export class PlanningLimitExceeded extends Error {
  override readonly name = 'PlanningLimitExceeded';
  constructor() {
    super('the statement exceeds its planning limits');
  }
}
