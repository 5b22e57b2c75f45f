import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { PlanEffort } from './compile/plan-effort.js';

/** Request context for planning. */
export interface Environment {
  /** Value of `now()` for the complete request. */
  readonly nowNs: bigint;
  /** Default database of unqualified measurements. */
  readonly database: string | undefined;
  readonly policy: string | undefined;
  /** Look-back of a statement without a hint. */
  readonly lookbackNs: bigint;
  /**
   * If true, a name without a policy means the database's default policy, as InfluxDB 1.x clients
   * expect.
   */
  readonly usesDefaultPolicies: boolean;
  databaseOf(name: string): DatabaseSchema | undefined;
  readonly effort: PlanEffort;
}
