import type { PlanContext, PlannedQuery } from '@plinth/tsdb-model/query/planned-query.js';
import type { WidePlan } from '@plinth/tsdb-model/query/wide-plan.js';
import { ColumnQueryPlanner } from './column-queries/column-query-planner.js';
import { MAIN_THREAD_LIMITS, PlanningLimitExceeded } from './parse/planning-limits.js';
import { plannedFrom, StatementPlanner } from './statement-planner.js';
import { PlannerThread } from './thread/planner-thread.js';
import { notVerified } from './trino/not-verified.js';
import { widePlan } from './trino/wide-plan.js';

const MAX_CACHED_STATEMENTS = 512;
/**
 * Maximum length of a short statement. Longer statements have a separate thread, so short ones
 * never wait for them.
 */
const MAX_SHORT_LENGTH = 65_536;

/**
 * Entry point of the package: selects where a statement is planned. A `StatementPlanner` plans simple statements in the
 * current thread, and others in one of two worker threads.
 */
export class SqlPlanner {
  readonly #columnQueries: ColumnQueryPlanner;
  readonly #thread = new PlannerThread();
  readonly #longStatementThread = new PlannerThread();

  readonly #planner: StatementPlanner;

  private constructor(planner: StatementPlanner) {
    this.#planner = planner;
    this.#columnQueries = new ColumnQueryPlanner(planner, { maxCount: MAX_CACHED_STATEMENTS });
  }

  static async load(): Promise<SqlPlanner> {
    return new SqlPlanner(await StatementPlanner.load({ maxCachedCount: MAX_CACHED_STATEMENTS }));
  }

  /** Throws `plan_error` and `not_implemented`, whose messages clients see. */
  plan(
    text: string,
    context: PlanContext,
    queryContext?: { readonly signal: AbortSignal },
  ): PlannedQuery | Promise<PlannedQuery> {
    try {
      return this.#columnQueries.plan(text, context);
    } catch (error) {
      if (!(error instanceof PlanningLimitExceeded)) throw error;
      const thread = text.length > MAX_SHORT_LENGTH ? this.#longStatementThread : this.#thread;
      return thread.plan(text, context, queryContext?.signal).then(plannedFrom);
    }
  }

  /** See `WidePlanner`. Statements that take long to plan are rejected. */
  planWide(text: string, context: PlanContext): WidePlan {
    try {
      const { serialized, tree } = this.#planner.plan(text, context, MAIN_THREAD_LIMITS);
      const { scans, columns, tableName } = serialized;
      return widePlan({ scans, columns, tableName, tree: tree() });
    } catch (error) {
      if (!(error instanceof PlanningLimitExceeded)) throw error;
      throw notVerified('a statement that exceeds the planning limits', 'simplify the statement');
    }
  }

  /** Rejects pending plans and stops the threads. May be called more than once. */
  async close(): Promise<void> {
    await Promise.all([this.#thread.close(), this.#longStatementThread.close()]);
  }
}
