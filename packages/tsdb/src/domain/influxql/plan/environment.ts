import type { DatabaseSchema } from '../../../model/schema.js';
import type { PlanEffort } from './compile/plan-effort.js';

/** What planning needs to know of the request. */
export interface Environment {
  /** `now()` of the whole request. */
  readonly nowNs: bigint;
  /** Database of the request, for measurements that name none. */
  readonly database: string | undefined;
  readonly policy: string | undefined;
  /** Without a policy, the database's default one is meant: clients of version 1 know these. */
  readonly usesDefaultPolicies: boolean;
  databaseOf(name: string): DatabaseSchema | undefined;
  readonly effort: PlanEffort;
}
