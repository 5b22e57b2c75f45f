import type { Caller } from '../../model/caller.js';
import type { Plan } from '../../model/plan.js';
import { UNLIMITED } from '../../model/resource.js';
import type { LimitKeys } from '../limit-keys.js';
import { BatchedScripts } from './batched-scripts.js';
import type { ScriptResponse } from './redis-admission.js';
import type { RedisCalls } from './redis-calls.js';
import type { RedisSettlement } from './redis-settlement.js';

/** Members of a decision request besides caller and plan. */
export interface DecisionOptions {
  /** Name of the slot to take; empty for none. */
  readonly slotId: string;
  /** Refusals of this node that have not been reported to Redis. */
  readonly unreportedCount: number;
  /** Units to reserve. */
  readonly reserveCount: number;
  /** Whether to charge nothing. */
  readonly isDryRun: boolean;
}

/**
 * Requests decisions from Redis, each in one script call. Charges of decisions that arrive too late
 * are refunded.
 */
export class RedisDecisions {
  readonly #calls: RedisCalls;
  readonly #keys: LimitKeys;
  readonly #settlement: RedisSettlement;
  readonly #batched: BatchedScripts;

  constructor(calls: RedisCalls, keys: LimitKeys, settlement: RedisSettlement) {
    this.#calls = calls;
    this.#keys = keys;
    this.#settlement = settlement;
    this.#batched = new BatchedScripts(
      (names, args, onLate) =>
        calls.call(
          names[0] ?? '',
          (client) => client.rlAdmitPrimary(names.length, ...names, ...args),
          onLate,
        ),
      ([primary, ban], [limit = 0, , cost = 0], response) => {
        const identity = keys.identityOf(ban, 'ban');
        const bucket = primary.slice(keys.of(identity, 'p:').length);
        settlement.refundLate(
          { identity, bucket, cost: limit < 0 ? 0 : cost, slotId: '' },
          response,
        );
      },
    );
  }

  run(caller: Caller, plan: Plan, options: DecisionOptions): Promise<ScriptResponse> {
    const { index, bucket } = plan.resource;
    const limit = caller.limits.limit[index] ?? UNLIMITED;
    const windowSec = caller.limits.windowSec[index] ?? plan.resource.windowSec;
    const own = this.#keys.own(caller.key);
    const [primary, ban] = [`${own}p:${bucket}`, `${own}ban`];
    const limitArg = limit === UNLIMITED ? -1 : limit;
    const { slotId, unreportedCount, reserveCount, isDryRun } = options;
    if (!hasSecondaryCharges(plan) && !plan.chargesCpu && !isDryRun) {
      return this.#batched.run(
        [primary, ban],
        [limitArg, windowSec, plan.cost, unreportedCount, reserveCount],
      );
    }
    const cost = isDryRun || limitArg < 0 ? 0 : plan.cost;
    return this.#calls.call(
      own,
      (client) =>
        client.rlAdmitAll(
          primary,
          ban,
          `${own}s:${this.#keys.endpointHash(plan.endpoint)}`,
          limitArg,
          windowSec,
          plan.cost,
          unreportedCount,
          reserveCount,
          isDryRun ? 1 : 0,
          slotId,
          plan.points,
          plan.isGraph ? 1 : 0,
          plan.chargesCpu ? 1 : 0,
          plan.isTokenCreation ? -1 : plan.contentCount,
          plan.contentPerMinute ?? -1,
          plan.heavy,
        ),
      (response) =>
        this.#settlement.refundLate({ identity: caller.key, bucket, cost, slotId }, response),
    );
  }
}

/** Whether a decision changes more in Redis than the primary bucket. */
export const hasSecondaryCharges = (plan: Plan): boolean =>
  plan.takesSlot ||
  plan.contentCount > 0 ||
  plan.isTokenCreation ||
  plan.points > 0 ||
  plan.heavy > 0;
