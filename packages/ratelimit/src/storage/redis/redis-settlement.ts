import type { LimitRules } from '../../model/limit-store.js';
import type { LimitKeys } from '../limit-keys.js';
import type { RedisAdmission, ScriptResponse } from './redis-admission.js';
import type { RedisCalls } from './redis-calls.js';
import type { ReservedBucket } from './reserved-units.js';

/** Charges to settle after a decision; each part is optional. */
interface Due {
  /** Units to refund, if their primary window is still open. */
  readonly refund?: number;
  /** Slot to release. */
  readonly slotId?: string;
  /** Handler time to charge. */
  readonly cpuMs?: number;
}

/** A charge that was requested from Redis. */
export interface Charge {
  readonly identity: string;
  readonly bucket: string;
  readonly cost: number;
  readonly slotId: string;
}

/**
 * Settles charges and refunds in the background. Calls are never repeated: after a lost call, slots and windows expire.
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

  /** Sends the charges and refunds of one admission. */
  settle({ caller, plan, resetSec }: RedisAdmission, due: Due): void {
    const at = { identity: caller.key, bucket: plan.resource.bucket, resetSec };
    void this.#send({ ...at, ...due, isGraph: plan.isGraph });
  }

  /** Releasing only a slot needs no script. */
  freeSlot({ caller }: RedisAdmission, slotId: string): void {
    const key = this.#keys.of(caller.key, 'c');
    void this.#calls.call(key, (client) => client.zrem(key, slotId)).catch(() => {});
  }

  /** Sends heartbeats for the slots of running requests; without them, the slots expire. */
  holdSlots(identity: string, slotIds: readonly string[]): void {
    const key = this.#keys.of(identity, 'c');
    void this.#calls.call(key, (client) => client.rlHoldSlots(1, key, ...slotIds)).catch(() => {});
  }

  /** Settles when Redis has refunded the units of all buckets, or is unavailable. */
  async refundUnits(
    buckets: readonly Pick<ReservedBucket, 'identity' | 'resource' | 'units' | 'resetSec'>[],
  ): Promise<void> {
    await Promise.all(
      buckets.map(({ identity, resource: { bucket }, units, resetSec }) =>
        this.#send({ identity, bucket, resetSec, refund: units }),
      ),
    );
  }

  /**
   * Refunds a charge of Redis for a decision that has been made without Redis in the meantime. Sums over a minute
   * or an hour keep the request until they expire, which errs on the safe side.
   */
  refundLate(
    { identity, bucket, cost, slotId }: Charge,
    [, resetSec, kind = '', , , , units = 0]: ScriptResponse,
  ): void {
    const refund = cost + units;
    if (kind !== '' || (refund === 0 && slotId === '')) return;
    if (!this.#calls.isOpen) return; // Without a connection, the remaining charges simply expire.
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
