import { InMemoryPlanner } from './in-memory/in-memory-planner.js';
import { EffortExceeded } from './parse/effort.js';
import { PlanMaker, plannedFrom } from './plan-maker.js';
import type { PlanContext, PlannedQuery } from './planned-query.js';
import { PlannerThread } from './thread/planner-thread.js';

const MAX_CACHED_STATEMENTS = 512;
/** Longer statements have a thread of their own: one may take seconds, which no short one waits for. */
const MAX_SHORT_LENGTH = 65_536;

/**
 * From the text of one SQL statement to a query for the engine: at once when that takes little effort, else in one of two
 * threads.
 */
export class SqlPlanner {
  readonly #inMemory: InMemoryPlanner;
  readonly #thread = new PlannerThread();
  readonly #threadOfLong = new PlannerThread();

  private constructor(maker: PlanMaker) {
    this.#inMemory = new InMemoryPlanner(maker, { maxCount: MAX_CACHED_STATEMENTS });
  }

  static async load(): Promise<SqlPlanner> {
    return new SqlPlanner(await PlanMaker.load({ maxCachedCount: MAX_CACHED_STATEMENTS }));
  }

  /** Throws `plan_error` and `not_implemented` with the messages that clients see. */
  plan(
    text: string,
    context: PlanContext,
    queryOwner?: { readonly signal: AbortSignal },
  ): PlannedQuery | Promise<PlannedQuery> {
    try {
      return this.#inMemory.plan(text, context);
    } catch (error) {
      if (!(error instanceof EffortExceeded)) throw error;
      const thread = text.length > MAX_SHORT_LENGTH ? this.#threadOfLong : this.#thread;
      return thread.plan(text, context, queryOwner?.signal).then(plannedFrom);
    }
  }

  /** Refuses what is planned in the threads, and ends them. Twice is harmless. */
  async close(): Promise<void> {
    await Promise.all([this.#thread.close(), this.#threadOfLong.close()]);
  }
}
