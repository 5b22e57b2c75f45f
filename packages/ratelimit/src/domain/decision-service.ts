import {
  type ClientAddresses,
  type Clock,
  CredentialUncheckable,
  isDomainError,
  type LimitProfile,
  type Principal,
  type Random,
} from '@plinth/kernel';
import { rateLimitError } from '../errors.js';
import { type Caller, parseKey } from '../model/caller.js';
import type { Decision } from '../model/decision.js';
import { makePlan, type Plan, planOfSeveral } from '../model/plan.js';
import { type Resource, UNLIMITED } from '../model/resource.js';
import type { Limiter } from './limiter.js';
import type { Profiles } from './profiles.js';
import type { RequestCharge } from './request-charge.js';

/** A request of another system, to be checked against the limits. */
export interface CheckRequest {
  readonly caller:
    | { readonly by: 'identity'; readonly key: string }
    | { readonly by: 'authorization'; readonly header: string; readonly ip: string | undefined }
    | { readonly by: 'ip'; readonly ip: string };
  readonly resource: string;
  readonly endpoint: string;
  readonly method: string;
  readonly cost: number;
  readonly points: number | undefined;
  readonly content: boolean;
  readonly contentPerMinute: number | undefined;
  readonly graph: boolean | { readonly mutation: boolean };
  readonly heavy: number;
  /** Takes a slot until `finish`. */
  readonly lease: boolean;
  /** Charges nothing. */
  readonly dryRun: boolean;
  /** Number of such requests one after another; only for a dry run. Default: 1. */
  readonly count?: number;
  /** Replaces the caller's own limit. It is counted separately, in its own window. */
  readonly override?: { readonly limit: number; readonly windowSec: number };
}

/** A validated check, ready to be decided. */
export interface PreparedCheck {
  readonly caller: Caller;
  readonly plan: Plan;
  readonly isBadCredential: boolean;
  readonly isLeased: boolean;
  readonly isDryRun: boolean;
  readonly count: number | undefined;
}

export interface CheckResult {
  readonly caller: Caller;
  readonly plan: Plan;
  readonly decision: Decision;
  readonly leaseId: string | undefined;
  /** Whether the check contained an unknown credential. */
  readonly isBadCredential: boolean;
  /** Whether a limit was exceeded outside shadow mode. */
  readonly isRefused: boolean;
  /** Number of requests of a dry run that fit. The decision is that of the next one, or of the last one if all fit. */
  readonly fittingCount: number;
}

interface ResolvedCaller {
  readonly caller: Caller;
  readonly isBadCredential: boolean;
}

interface HeldLease {
  readonly charge: RequestCharge;
  readonly startedMs: number;
}

const MAX_LEASE_COUNT = 100_000;
/** Lifetime of a slot whose request never calls `finish`. */
const LEASE_MS = 600_000;
const SERVICE = 'check';

export interface DecisionServiceDeps {
  readonly limiter: Limiter;
  readonly addresses: ClientAddresses;
  readonly profiles: Profiles;
  readonly resolve: (authorization: string) => Principal | Promise<Principal>;
  readonly clock: Clock;
  readonly random: Random;
}

/** Checks requests of other systems against the same counters that this server's requests use. */
export class DecisionService {
  readonly #deps: DecisionServiceDeps;
  /** Oldest first. */
  readonly #leases = new Map<string, HeldLease>();

  constructor(deps: DecisionServiceDeps) {
    this.#deps = deps;
  }

  /** Throws `check_invalid`, `store_unavailable` and `CredentialUncheckable`. */
  async check(request: CheckRequest): Promise<CheckResult> {
    return await this.decide(await this.prepare(request));
  }

  /**
   * Resolves caller and resource without charging anything. Throws `check_invalid` and
   * `CredentialUncheckable`.
   */
  async prepare(request: CheckRequest): Promise<PreparedCheck> {
    const { resources } = this.#deps.limiter;
    const resource = resources.find(request.resource);
    if (resource === undefined) {
      throw rateLimitError('check_invalid', `unknown resource ${request.resource}`);
    }
    const found = this.#callerOf(request.caller);
    const { caller, isBadCredential } = found instanceof Promise ? await found : found;
    const { override, lease, dryRun, count } = request;
    const how = { isBadCredential, isLeased: lease, isDryRun: dryRun, count };
    if (override === undefined) return { caller, plan: planOf(request, resource), ...how };
    const own = resources.withWindow(resource, override.windowSec);
    return { caller: withLimit(caller, own, override.limit), plan: planOf(request, own), ...how };
  }

  /** Throws `store_unavailable`. */
  async decide(prepared: PreparedCheck): Promise<CheckResult> {
    const { limiter } = this.#deps;
    if (prepared.isDryRun) return await this.#simulate(prepared);
    const { caller, plan, isBadCredential, isLeased } = prepared;
    const outcome = limiter.admit(caller, plan, SERVICE);
    const { admission, isRefused, charge } = outcome instanceof Promise ? await outcome : outcome;
    const leaseId = charge && isLeased ? this.#keep(charge) : undefined;
    if (leaseId === undefined) charge?.finish();
    const fittingCount = isRefused ? 0 : 1;
    return { caller, plan, decision: admission, leaseId, isBadCredential, isRefused, fittingCount };
  }

  /** Finds the first rejected request of a sequence by bisection: if it fits with `n` others, it also fits with fewer. */
  async #simulate({
    caller,
    plan,
    isBadCredential,
    count = 1,
  }: PreparedCheck): Promise<CheckResult> {
    const { store } = this.#deps.limiter;
    const peek = (number: number) => store.peek(caller, planOfSeveral(plan, number));
    let decision = await peek(count);
    let fittingCount = decision.isAllowed ? count : 0;
    for (let rejected = decision.isAllowed ? 0 : count; rejected - fittingCount > 1; ) {
      const middle = Math.floor((fittingCount + rejected) / 2);
      const found = await peek(middle);
      if (found.isAllowed) {
        fittingCount = middle;
      } else {
        rejected = middle;
        decision = found;
      }
    }
    const before = Math.min(fittingCount, count - 1);
    const used = decision.used + (decision.limit === UNLIMITED ? 0 : before * plan.cost);
    return {
      ...{ caller, plan, isBadCredential, fittingCount, leaseId: undefined },
      ...{ decision: { ...decision, used }, isRefused: !decision.isAllowed },
    };
  }

  /** Throws `lease_unknown`. */
  finish(leaseId: string, end: { readonly cpuMs: number; readonly status: number }): void {
    const lease = this.#leases.get(leaseId);
    if (lease === undefined) throw rateLimitError('lease_unknown');
    this.#leases.delete(leaseId);
    const { charge } = lease;
    if (end.cpuMs > 0) charge.chargeCpu(end.cpuMs);
    charge.settle(end.status);
    charge.finish();
  }

  /** Synchronous for known keys, which most checks contain. */
  #callerOf(caller: CheckRequest['caller']): ResolvedCaller | Promise<ResolvedCaller> {
    const { addresses, profiles } = this.#deps;
    switch (caller.by) {
      case 'ip':
        return { caller: this.#callerAt(caller.ip), isBadCredential: false };
      case 'identity': {
        const key = addresses.keyOf(caller.key);
        // An invalid key needs no store query.
        if (key === undefined || parseKey(key) === undefined) throw noKey();
        const profile = profiles.of(key);
        return profile instanceof Promise
          ? profile.then((read) => this.#callerWithKey(key, read))
          : this.#callerWithKey(key, profile);
      }
      case 'authorization':
        return this.#callerWithCredential(caller.header, caller.ip);
    }
  }

  #callerAt(ip: string | undefined): Caller {
    const { limiter, addresses } = this.#deps;
    const address = addresses.parse(ip ?? '');
    if (address === undefined)
      throw rateLimitError('check_invalid', 'ip must be a valid IP address, such as 192.0.2.1');
    return limiter.callers.ofAddress(address.key, address.address);
  }

  #callerWithKey(key: string, profile: LimitProfile | undefined): ResolvedCaller {
    const caller = this.#deps.limiter.callers.ofKey(key, profile);
    if (caller === undefined) throw noKey();
    return { caller, isBadCredential: false };
  }

  async #callerWithCredential(header: string, ip: string | undefined): Promise<ResolvedCaller> {
    const { limiter, resolve } = this.#deps;
    let principal: Principal | undefined;
    try {
      principal = await resolve(header);
    } catch (error) {
      if (!isDomainError(error) || error instanceof CredentialUncheckable) throw error;
    }
    const caller = principal && limiter.callers.ofPrincipal(principal);
    if (caller !== undefined) return { caller, isBadCredential: false };
    return { caller: this.#callerAt(ip ?? UNKNOWN_ADDRESS), isBadCredential: true };
  }

  #keep(charge: RequestCharge): string {
    const { clock, random } = this.#deps;
    const nowMs = clock.monotonicMs();
    for (const [id, { charge: old, startedMs }] of this.#leases) {
      if (nowMs - startedMs < LEASE_MS && this.#leases.size < MAX_LEASE_COUNT) break;
      this.#leases.delete(id);
      old.finish();
    }
    const id = random.uuidV4();
    this.#leases.set(id, { charge, startedMs: nowMs });
    return id;
  }
}

const noKey = (): Error =>
  rateLimitError('check_invalid', 'identity is not a valid key; use a key like user:1');

/** Charged for a bad credential when the check has no address. */
const UNKNOWN_ADDRESS = '0.0.0.0';

function withLimit(caller: Caller, { index, windowSec }: Resource, most: number): Caller {
  const limit: number[] = [];
  limit[index] = Math.min(most, UNLIMITED - 1);
  const windows: number[] = [];
  windows[index] = windowSec;
  return { ...caller, limits: { limit, windowSec: windows } };
}

function planOf(request: CheckRequest, resource: Resource): Plan {
  const { endpoint, method, graph, lease } = request;
  const plan = makePlan({
    resource,
    endpoint,
    method,
    cost: {
      cost: request.cost,
      content: request.content,
      graph,
      heavy: request.heavy,
      ...(request.points !== undefined && { points: request.points }),
      ...(request.contentPerMinute !== undefined && {
        contentPerMinute: request.contentPerMinute,
      }),
    },
    secondary: 'all',
  });
  // Without a lease, the slot would never be released.
  return { ...plan, takesSlot: lease };
}
