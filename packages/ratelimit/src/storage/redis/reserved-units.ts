import type { Clock } from '@plinth/kernel';
import type { Resource } from '../../model/resource.js';
import { bucketOf } from './redis-admission.js';

/** Buckets that are asked about less often than this take nothing ahead, and what they hold is given back. */
const BUSY_MS = 1_000;
const MAX_COUNT = 100_000;

/** What this node knows of one bucket. Its units are charged in Redis already. */
export interface ReservedBucket {
  readonly identity: string;
  readonly resource: Resource;
  units: number;
  /** Of the whole bucket as Redis said last, the units in it. */
  used: number;
  resetSec: number;
  /** By the clock that nobody sets: no unit outlives the window that it was taken from. */
  untilMs: number;
  seenMs: number;
  /** Redis gave nothing ahead when it was asked last: little is left. */
  isScarce: boolean;
  /** Settles when the question that is on its way has been answered. */
  filling: Promise<unknown> | undefined;
}

/** What Redis said about a bucket. */
export interface BucketAnswer {
  readonly used: number;
  readonly resetSec: number;
  /** That were asked for ahead. */
  readonly wished: number;
  /** That were taken ahead. */
  readonly units: number;
  /** Until the window ends, when Redis answered. */
  readonly leftMs: number;
  /** Before Redis was asked, by the clock that nobody sets. */
  readonly askedMs: number;
}

/**
 * Units that were taken ahead, so that most decisions about busy buckets need no round trip. Since they are charged
 * before they are given away, all nodes together never admit too many; a node that holds some while the others find
 * the bucket empty lets that many pass later. Source: rate-limits, section 14.2.
 */
export class ReservedUnits {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #buckets = new Map<string, ReservedBucket>();

  /** @param most units of one bucket that are held. */
  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  find(identity: string, resource: Resource): ReservedBucket | undefined {
    return this.#buckets.get(bucketOf(identity, resource));
  }

  /** `undefined`: no room to keep another one. */
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
   * Charges `cost` to the units at hand, or changes nothing.
   * @param limit of this caller: one who may use less of the same bucket than another is held to that.
   */
  take(bucket: ReservedBucket, cost: number, limit: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (bucket.untilMs <= nowMs) bucket.units = 0;
    if (bucket.units < cost || bucket.used - bucket.units + cost > limit) return false;
    bucket.seenMs = nowMs;
    bucket.units -= cost;
    return true;
  }

  /** How many units the next question should ask for beyond its own. */
  wish(bucket: ReservedBucket): number {
    const nowMs = this.#clock.monotonicMs();
    const isBusy = nowMs - bucket.seenMs < BUSY_MS;
    bucket.seenMs = nowMs;
    return isBusy ? Math.max(0, this.#most - bucket.units) : 0;
  }

  note(bucket: ReservedBucket, answer: BucketAnswer): void {
    const { used, resetSec, wished, units, leftMs, askedMs } = answer;
    if (bucket.resetSec !== resetSec) bucket.units = 0;
    bucket.used = used;
    bucket.resetSec = resetSec;
    if (wished > 0) bucket.isScarce = units === 0;
    if (units === 0) return;
    bucket.units += units;
    bucket.untilMs = askedMs + leftMs;
  }

  /** Units that lie here, charged but not used. */
  unitsOf(identity: string, resource: Resource, resetSec: number): number {
    const bucket = this.find(identity, resource);
    const isSame = bucket?.resetSec === resetSec && this.#clock.monotonicMs() < bucket.untilMs;
    return isSame ? bucket.units : 0;
  }

  /** Keeps what a request of the same window did not cost after all. @returns false when Redis has to be told. */
  release(identity: string, resource: Resource, resetSec: number, cost: number): boolean {
    const bucket = this.find(identity, resource);
    if (bucket === undefined || bucket.resetSec !== resetSec) return false;
    if (bucket.untilMs <= this.#clock.monotonicMs()) return false;
    if (bucket.units + cost > this.#most) return false;
    bucket.units += cost;
    return true;
  }

  /** Forgets what lies here of an identity. @returns buckets whose units Redis may have back. */
  drop(identity: string): readonly ReservedBucket[] {
    return this.#remove((bucket) => bucket.identity === identity);
  }

  /** As above, of buckets that nobody asked about lately. */
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
