import type { Caller } from '../model/caller.js';
import type { LimitRules } from '../model/limit-store.js';
import type { PrimaryLimits } from '../model/primary-limits.js';
import { UNLIMITED } from '../model/resource.js';

/** Rules that hold all nodes together to one amount. */
const DIVIDED_RULES = [
  'concurrency',
  'pointsRest',
  'pointsGraph',
  'cpuMs',
  'cpuGraphMs',
  'contentMinute',
  'contentHour',
  'tokenHour',
  'heavy',
] as const satisfies readonly (keyof LimitRules)[];

interface Share {
  readonly nodeCount: number;
  readonly limits: PrimaryLimits;
}

/** What one of several nodes allows while each counts for itself: its part of every limit, rounded up. */
export class NodeShares {
  /** Divided by as many nodes as there are when a rule is looked at. */
  readonly rules: LimitRules;
  readonly #nodeCount: () => number;
  readonly #shares = new WeakMap<PrimaryLimits, Share>();

  constructor(rules: LimitRules, nodeCount: () => number) {
    this.#nodeCount = nodeCount;
    const divided = DIVIDED_RULES.map((name) => {
      const get = () => Math.ceil(rules[name] / nodeCount());
      return [name, { get, enumerable: true }] as const;
    });
    this.rules = Object.defineProperties({ ...rules }, Object.fromEntries(divided));
  }

  /** The same caller with this node's part of the primary limits. */
  shareOf(caller: Caller): Caller {
    const nodeCount = this.#nodeCount();
    if (nodeCount === 1) return caller;
    const known = this.#shares.get(caller.limits);
    if (known?.nodeCount === nodeCount) return { ...caller, limits: known.limits };
    const limits = {
      windowSec: caller.limits.windowSec,
      limit: caller.limits.limit.map((limit) =>
        limit === UNLIMITED ? limit : Math.ceil(limit / nodeCount),
      ),
    };
    this.#shares.set(caller.limits, { nodeCount, limits });
    return { ...caller, limits };
  }
}
