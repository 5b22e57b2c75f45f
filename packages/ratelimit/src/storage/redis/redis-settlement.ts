import type { LimitRules } from '../../model/limit-store.js';
import type { LimitKeys } from '../limit-keys.js';
import type { RedisAdmission, ScriptAnswer } from './redis-admission.js';
import type { RedisCalls } from './redis-calls.js';
import type { ReservedBucket } from './reserved-units.js';

/** What becomes due after a decision; each part may be missing. */
interface Due {
  /** Units of the primary limit that go back, if their window is still open. */
  readonly refund?: number;
  /** A slot that goes back. */
  readonly slotId?: string;
  /** Running time that is charged. */
  readonly cpuMs?: number;
}

/** What Redis was asked to charge. */
export interface Charge {
  readonly identity: string;
  readonly bucket: string;
  readonly cost: number;
  readonly slotId: string;
}

/**
 * Pays and gives back. Nobody waits for these calls, and none is repeated: what is lost with Redis ends by itself, for
 * slots expire and windows end.
 */
export class RedisSettlement {
  readonly #calls: RedisCalls;
  readonly #keys: LimitKeys;
  readonly #minuteMs: number;

  constructor(calls: RedisCalls, keys: LimitKeys, { minuteMs }: LimitRules) {
    this.#calls = calls;
    this.#keys = keys;
    this.#minuteMs = minuteMs;
  }

  settle({ caller, plan, resetSec }: RedisAdmission, due: Due): void {
    const at = { identity: caller.key, bucket: plan.resource.bucket, resetSec };
    void this.#send({ ...at, ...due, isGraph: plan.isGraph });
  }

  /** A slot alone needs no script. */
  freeSlot({ caller }: RedisAdmission, slotId: string): void {
    const key = this.#keys.of(caller.key, 'c');
    void this.#calls.call(key, (client) => client.zrem(key, slotId)).catch(() => {});
  }

  /** Requests of an identity run on: their slots would be free else, as those of a node that is gone are. */
  holdSlots(identity: string, slotIds: readonly string[]): void {
    const key = this.#keys.of(identity, 'c');
    void this.#calls.call(key, (client) => client.rlHoldSlots(1, key, ...slotIds)).catch(() => {});
  }

  /** Settles when Redis has taken the units of all buckets back, or cannot be reached. */
  async giveUnitsBack(
    buckets: readonly Pick<ReservedBucket, 'identity' | 'resource' | 'units' | 'resetSec'>[],
  ): Promise<void> {
    await Promise.all(
      buckets.map(({ identity, resource: { bucket }, units, resetSec }) =>
        this.#send({ identity, bucket, resetSec, refund: units }),
      ),
    );
  }

  /**
   * Gives back what Redis charged for a decision that was made without it meanwhile. Sums over a minute or an hour keep
   * the request: that is on the safe side, and ends by itself.
   */
  takeBack(
    { identity, bucket, cost, slotId }: Charge,
    [, resetSec, kind = '', , , , units = 0]: ScriptAnswer,
  ): void {
    const refund = cost + units;
    if (kind !== '' || (refund === 0 && slotId === '')) return;
    if (!this.#calls.isOpen) return; // Closed meanwhile: what is not given back ends by itself.
    void this.#send({ identity, bucket, resetSec, refund, slotId });
  }

  async #send(
    due: Due & {
      readonly identity: string;
      readonly bucket: string;
      readonly resetSec: number;
      readonly isGraph?: boolean;
    },
  ): Promise<void> {
    const { identity, bucket, resetSec, refund = 0, slotId = '', cpuMs = 0, isGraph } = due;
    const own = this.#keys.own(identity);
    const keys = [`${own}p:${bucket}`, `${own}c`, `${own}cpu`, `${own}cpug`];
    const args = [refund, resetSec, slotId, cpuMs, isGraph === true ? '1' : '0', this.#minuteMs];
    const sent = this.#calls.call(own, (client) => client.rlSettle(keys.length, ...keys, ...args));
    await sent.catch(() => {});
  }
}
