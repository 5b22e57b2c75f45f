import type { Caller } from '../model/caller.js';
import type { LimitRules } from '../model/limit-store.js';
import type { PrimaryLimits } from '../model/primary-limits.js';
import { UNLIMITED } from '../model/resource.js';

/** Rules that limit all nodes together. */
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

/** Limits of one node while each counts separately: its share of every limit, rounded up. */
export class NodeShares {
  /** Divided by the number of nodes at the time of each access. */
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

  /** Returns the caller with this node's share of the primary limits. */
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
