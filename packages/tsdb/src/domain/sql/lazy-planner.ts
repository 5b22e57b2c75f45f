import type { PlanContext, PlannedQuery } from './planned-query.js';
import type { SqlPlanner } from './sql-planner.js';

/** Loads the planner with the first statement: its parser is WebAssembly, which takes a tenth of a start to compile. */
export class LazyPlanner {
  #loading: Promise<SqlPlanner> | undefined;
  #loaded: SqlPlanner | undefined;

  /** Loads in the background, for statements that are likely soon. They tell when that fails. */
  prepare(): void {
    this.#load().catch(() => undefined);
  }

  /** As `SqlPlanner.plan`. */
  plan(
    text: string,
    context: PlanContext,
    queryOwner?: { readonly signal: AbortSignal },
  ): PlannedQuery | Promise<PlannedQuery> {
    return (
      this.#loaded?.plan(text, context, queryOwner) ??
      this.#load().then((planner) => planner.plan(text, context, queryOwner))
    );
  }

  /** Twice is harmless. */
  async close(): Promise<void> {
    const planner = await this.#loading?.catch(() => undefined); // Whoever asked for it was told.
    await planner?.close();
  }

  #load(): Promise<SqlPlanner> {
    this.#loading ??= import('./sql-planner.js')
      .then(async ({ SqlPlanner }) => {
        this.#loaded = await SqlPlanner.load();
        return this.#loaded;
      })
      .catch((error: unknown) => {
        this.#loading = undefined; // The next statement tries again.
        throw error;
      });
    return this.#loading;
  }
}
