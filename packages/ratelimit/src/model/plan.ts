import type { RouteCost } from '@plinth/kernel';
import type { Caller } from './caller.js';
import type { Resource } from './resource.js';

/** Charges of one request against its caller's limits. Created once per route and method. */
export interface Plan {
  readonly resource: Resource;
  /** Cost against the primary limit. */
  readonly cost: number;
  /** Endpoint whose points are counted. */
  readonly endpoint: string;
  /** 0 if the request has no points. */
  readonly points: number;
  readonly isGraph: boolean;
  /** 1 if the request creates content, otherwise 0. */
  readonly contentCount: number;
  /** `undefined` if only the general content limit applies. */
  readonly contentPerMinute: number | undefined;
  /** Whether the request creates an OAuth token for the caller, which is an app. */
  readonly isTokenCreation: boolean;
  /** 0 if not declared as compute-heavy. */
  readonly heavy: number;
  /** Whether the request takes one of the caller's slots while it runs. */
  readonly takesSlot: boolean;
  /** Whether handler time is charged. */
  readonly chargesCpu: boolean;
  readonly isLongLived: boolean;
}

/** Returns the length of the window that counts the request. An override may define its own window. */
export const windowSecOf = ({ limits }: Pick<Caller, 'limits'>, { resource }: Plan): number =>
  limits.windowSec[resource.index] ?? resource.windowSec;

/** Secondary limits that apply to a service. */
export type SecondaryScope = 'all' | 'concurrency' | 'none';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const READ_POINTS = 1;
const WRITE_POINTS = 5;

/** Whether the method costs the minimum number of points. */
export const isRead = (method: string): boolean => READS.has(method);

/** Returns the points of a request by its method. Source: rate-limits, section 8.2. */
function pointsOf(method: string, graph: RouteCost['graph']): number {
  if (graph) return typeof graph === 'object' && graph.mutation ? WRITE_POINTS : READ_POINTS;
  return isRead(method) ? READ_POINTS : WRITE_POINTS;
}

/**
 * Creates the plan for requests of one method to one endpoint.
 * Source: rate-limits, sections 8.2 and 10.
 */
export function makePlan(options: {
  readonly resource: Resource;
  readonly endpoint: string;
  readonly method: string;
  readonly cost: RouteCost;
  readonly secondary: SecondaryScope;
}): Plan {
  const { resource, endpoint, method, cost, secondary } = options;
  const countsAll = secondary === 'all';
  return {
    resource,
    // A preflight request is free.
    cost: method === 'OPTIONS' ? 0 : (cost.cost ?? 1),
    endpoint: cost.endpoint ?? endpoint,
    points: countsAll ? (cost.points ?? pointsOf(method, cost.graph)) : 0,
    isGraph: Boolean(cost.graph),
    contentCount: countsAll && cost.content === true ? 1 : 0,
    contentPerMinute: countsAll ? cost.contentPerMinute : undefined,
    isTokenCreation: false,
    heavy: countsAll ? (cost.heavy ?? 0) : 0,
    takesSlot: secondary !== 'none',
    chargesCpu: countsAll,
    isLongLived: cost.longLived === true,
  };
}

/**
 * Returns a plan that fits exactly if `count` requests fit one after another. Their slots do not add up, because each
 * request ends before the next one starts.
 */
export const planOfSeveral = (plan: Plan, count: number): Plan => ({
  ...plan,
  cost: plan.cost * count,
  points: plan.points * count,
  contentCount: plan.contentCount * count,
  heavy: plan.heavy * count,
});

/** Creating a token counts only against an app's token limit. Source: rate-limits, section 8.1. */
export function makeTokenPlan(resource: Resource): Plan {
  const cost = { cost: 0 };
  const plan = makePlan({
    resource,
    endpoint: '(tokens)',
    method: 'POST',
    cost,
    secondary: 'none',
  });
  return { ...plan, isTokenCreation: true };
}
