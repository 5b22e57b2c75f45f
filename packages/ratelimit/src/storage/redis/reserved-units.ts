import type { Clock } from '@plinth/kernel';
import type { Resource } from '../../model/resource.js';
import { bucketOf } from './redis-admission.js';

/**
 * A bucket with a longer interval between requests reserves nothing, and its units are refunded.
 */
const BUSY_MS = 1_000;
const MAX_COUNT = 100_000;

/** Local state of one bucket. Its units are already charged in Redis. */
export interface ReservedBucket {
  readonly identity: string;
  readonly resource: Resource;
  units: number;
  /** Usage of the entire bucket as last reported by Redis, including the units reserved by this node. */
  used: number;
  resetSec: number;
  /** Monotonic time; units never outlast their window. */
  untilMs: number;
  seenMs: number;
  /** Redis granted no units in its last response, because few are left. */
  isScarce: boolean;
  /** Settles when the running request for units has a response. */
  filling: Promise<unknown> | undefined;
}

/** Response of Redis about a bucket. */
export interface BucketResponse {
  readonly used: number;
  readonly resetSec: number;
  /** Requested units. */
  readonly requestedUnits: number;
  /** Granted units. */
  readonly units: number;
  /** Time until the window ends, as of the response. */
  readonly leftMs: number;
  /** Monotonic time before the request was sent. */
  readonly sentMs: number;
}

/**
 * Units reserved in advance, so that most decisions about busy buckets need no round trip.
 * They are charged before use, so all nodes together never exceed a limit. A node with reserved units can still use
 * them when the bucket is empty for other nodes. Source: rate-limits, section 14.2.
 */
export class ReservedUnits {
  readonly #clock: Clock;
  readonly #maxUnits: number;
  readonly #buckets = new Map<string, ReservedBucket>();

  /** @param maxUnits maximum number of reserved units per bucket. */
  constructor(clock: Clock, maxUnits: number) {
    this.#clock = clock;
    this.#maxUnits = maxUnits;
  }

  find(identity: string, resource: Resource): ReservedBucket | undefined {
    return this.#buckets.get(bucketOf(identity, resource));
  }

  /** Returns the bucket, creating it if needed; `undefined` when the table is full. */
  open(identity: string, resource: Resource): ReservedBucket | undefined {
    const name = bucketOf(identity, resource);
    const known = this.#buckets.get(name);
    if (known !== undefined || this.#buckets.size >= MAX_COUNT) return known;
    const bucket: ReservedBucket = {
      identity,
      resource,
      units: 0,
      used: 0,
      resetSec: 0,
      untilMs: 0,
      seenMs: Number.NEGATIVE_INFINITY,
      isScarce: false,
      filling: undefined,
    };
    this.#buckets.set(name, bucket);
    return bucket;
  }

  /**
   * Charges `cost` to the reserved units, or changes nothing.
   * @param limit the caller's own limit, which may be lower than the limit of other users of the bucket.
   */
  take(bucket: ReservedBucket, cost: number, limit: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (bucket.untilMs <= nowMs) bucket.units = 0;
    if (bucket.units < cost || bucket.used - bucket.units + cost > limit) return false;
    bucket.seenMs = nowMs;
    bucket.units -= cost;
    return true;
  }

  /** Returns the number of units to request beyond the cost of the next decision. */
  unitsToReserve(bucket: ReservedBucket): number {
    const nowMs = this.#clock.monotonicMs();
    const isBusy = nowMs - bucket.seenMs < BUSY_MS;
    bucket.seenMs = nowMs;
    return isBusy ? Math.max(0, this.#maxUnits - bucket.units) : 0;
  }

  /** Applies a response of Redis. */
  note(bucket: ReservedBucket, response: BucketResponse): void {
    const { used, resetSec, requestedUnits, units, leftMs, sentMs } = response;
    if (bucket.resetSec !== resetSec) bucket.units = 0;
    bucket.used = used;
    bucket.resetSec = resetSec;
    if (requestedUnits > 0) bucket.isScarce = units === 0;
    if (units === 0) return;
    bucket.units += units;
    bucket.untilMs = sentMs + leftMs;
  }

  /** Returns the reserved units, which are charged but not used. */
  unitsOf(identity: string, resource: Resource, resetSec: number): number {
    const bucket = this.find(identity, resource);
    const isSame = bucket?.resetSec === resetSec && this.#clock.monotonicMs() < bucket.untilMs;
    return isSame ? bucket.units : 0;
  }

  /**
   * Keeps the refunded cost of a request in the same window. @returns false when Redis has to
   * refund it.
   */
  release(identity: string, resource: Resource, resetSec: number, cost: number): boolean {
    const bucket = this.find(identity, resource);
    if (bucket === undefined || bucket.resetSec !== resetSec) return false;
    if (bucket.untilMs <= this.#clock.monotonicMs()) return false;
    if (bucket.units + cost > this.#maxUnits) return false;
    bucket.units += cost;
    return true;
  }

  /** Drops the units of an identity. @returns buckets whose units Redis can refund. */
  drop(identity: string): readonly ReservedBucket[] {
    return this.#remove((bucket) => bucket.identity === identity);
  }

  /** Drops the units of idle buckets. @returns buckets whose units Redis can refund. */
  dropIdle(): readonly ReservedBucket[] {
    const beforeMs = this.#clock.monotonicMs() - BUSY_MS;
    return this.#remove(({ seenMs, filling }) => filling === undefined && seenMs < beforeMs);
  }

  dropAll(): readonly ReservedBucket[] {
    return this.#remove(() => true);
  }

  #remove(isMeant: (bucket: ReservedBucket) => boolean): readonly ReservedBucket[] {
    const nowMs = this.#clock.monotonicMs();
    const owed: ReservedBucket[] = [];
    for (const [name, bucket] of this.#buckets) {
      if (!isMeant(bucket)) continue;
      this.#buckets.delete(name);
      if (bucket.units > 0 && bucket.untilMs > nowMs) owed.push(bucket);
    }
    return owed;
  }
}
