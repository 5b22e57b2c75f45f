import type { PlanContext, PlannedQuery } from '@plinth/tsdb-model/query/planned-query.js';
import type { WidePlan } from '@plinth/tsdb-model/query/wide-plan.js';
import type { SqlPlanner } from './sql-planner.js';

/**
 * Loads the planner for the first statement, because compiling its WebAssembly parser takes a tenth
 * of the startup time.
 */
export class LazyPlanner {
  #loading: Promise<SqlPlanner> | undefined;
  #loaded: SqlPlanner | undefined;

  /** Starts loading in the background. `plan` reports a failure. */
  prepare(): void {
    this.#load().catch(() => undefined);
  }

  /** See `SqlPlanner.plan`. */
  plan(
    text: string,
    context: PlanContext,
    queryContext?: { readonly signal: AbortSignal },
  ): PlannedQuery | Promise<PlannedQuery> {
    return (
      this.#loaded?.plan(text, context, queryContext) ??
      this.#load().then((planner) => planner.plan(text, context, queryContext))
    );
  }

  /** See `WidePlanner`. */
  async planWide(text: string, context: PlanContext): Promise<WidePlan> {
    return (await this.#load()).planWide(text, context);
  }

  /** May be called more than once. */
  async close(): Promise<void> {
    const planner = await this.#loading?.catch(() => undefined); // `plan` reported the error.
    await planner?.close();
  }

  #load(): Promise<SqlPlanner> {
    this.#loading ??= import('./sql-planner.js')
      .then(async ({ SqlPlanner }) => {
        this.#loaded = await SqlPlanner.load();
        return this.#loaded;
      })
      .catch((error: unknown) => {
        this.#loading = undefined; // The next statement retries.
        throw error;
      });
    return this.#loading;
  }
}
