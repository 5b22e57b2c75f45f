import type { RouteCost } from '@plinth/kernel';
import type { Caller } from './caller.js';
import type { Resource } from './resource.js';

/** What one request asks of its caller's limits; made once per route and method. */
export interface Plan {
  readonly resource: Resource;
  /** Of the primary limit. */
  readonly cost: number;
  /** Name under which points are counted. */
  readonly endpoint: string;
  /** 0: points are neither counted nor checked. */
  readonly points: number;
  readonly isGraph: boolean;
  readonly isContent: boolean;
  /** `undefined`: the general limit of content alone. */
  readonly contentPerMinute: number | undefined;
  /** An OAuth token of the caller, which is an app, is made. */
  readonly isTokenCreation: boolean;
  /** 0: not declared as heavy. */
  readonly heavy: number;
  /** The request takes one of the caller's slots while it runs. */
  readonly takesSlot: boolean;
  /** Time of its handler is charged. */
  readonly chargesCpu: boolean;
  readonly isLongLived: boolean;
}

/** Length of the window that a request is counted in: an override may have its own. */
export const windowSecOf = ({ limits }: Pick<Caller, 'limits'>, { resource }: Plan): number =>
  limits.windowSec[resource.index] ?? resource.windowSec;

/** Which secondary limits a service's requests are held to. */
export type SecondaryScope = 'all' | 'concurrency' | 'none';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const READ_POINTS = 1;
const WRITE_POINTS = 5;

/** Of a method that costs the fewest points. */
export const isRead = (method: string): boolean => READS.has(method);

/** Points of a request by its method. Source: rate-limits, section 8.2. */
function pointsOf(method: string, graph: RouteCost['graph']): number {
  if (graph) return typeof graph === 'object' && graph.mutation ? WRITE_POINTS : READ_POINTS;
  return isRead(method) ? READ_POINTS : WRITE_POINTS;
}

/**
 * What requests of one method to one endpoint ask of their caller's limits; made once and used for each of them.
 * Source: rate-limits, sections 8.2 and 10.
 */
export function makePlan(at: {
  readonly resource: Resource;
  readonly endpoint: string;
  readonly method: string;
  readonly cost: RouteCost;
  readonly secondary: SecondaryScope;
}): Plan {
  const { resource, endpoint, method, cost, secondary } = at;
  const countsAll = secondary === 'all';
  return {
    resource,
    // To ask what may be asked is not yet a request.
    cost: method === 'OPTIONS' ? 0 : (cost.cost ?? 1),
    endpoint: cost.endpoint ?? endpoint,
    points: countsAll ? (cost.points ?? pointsOf(method, cost.graph)) : 0,
    isGraph: Boolean(cost.graph),
    isContent: countsAll && cost.content === true,
    contentPerMinute: countsAll ? cost.contentPerMinute : undefined,
    isTokenCreation: false,
    heavy: countsAll ? (cost.heavy ?? 0) : 0,
    takesSlot: secondary !== 'none',
    chargesCpu: countsAll,
    isLongLived: cost.longLived === true,
  };
}

/** Making a token costs an app nothing but one of its tokens. Source: rate-limits, section 8.1. */
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
