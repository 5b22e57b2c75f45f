import { lastForgottenSlot, SlidingSum } from '../../model/sliding-sum.js';

/** A window of a primary limit, open or expired. */
export interface PrimaryWindow {
  used: number;
  /** Epoch seconds; 0 before the first window. */
  resetSec: number;
}

/**
 * Maximum number of endpoints per identity with their own points. All further endpoints share one
 * sum.
 */
const MAX_ENDPOINT_COUNT = 1_000;
const OTHER_ENDPOINTS = '(others)';

/**
 * All counters of one identity. Most identities use one bucket and one endpoint within one second.
 * These counters are fields of the object; rarer ones are in `extra`.
 */
export class IdentityState implements PrimaryWindow {
  readonly key: string;
  used = 0;
  resetSec = 0;
  /** Resource of the window above. */
  resourceIndex = -1;
  inFlight = 0;
  /** Endpoint whose points are in `slot`, or in `extra.ring` once a second slot is used. */
  endpoint: string | undefined = undefined;
  slot = 0;
  slotPoints = 0;
  /** Epoch seconds of the limiter's own clock. */
  seenSec = 0;
  isDirty = false;
  extra: ExtraState | undefined = undefined;

  constructor(key: string) {
    this.key = key;
  }

  windowOf(resourceIndex: number): PrimaryWindow | undefined {
    if (this.resourceIndex === resourceIndex) return this;
    return this.extra?.windows?.get(resourceIndex);
  }

  /** Opens a window. @returns whether the identity had none for this resource. */
  openWindow(resourceIndex: number, used: number, resetSec: number): boolean {
    const known = this.windowOf(resourceIndex);
    if (known !== undefined) {
      known.used = used;
      known.resetSec = resetSec;
      return false;
    }
    if (this.resourceIndex === -1) {
      this.resourceIndex = resourceIndex;
      this.used = used;
      this.resetSec = resetSec;
      return true;
    }
    const extra = this.withExtra();
    extra.windows ??= new Map();
    extra.windows.set(resourceIndex, { used, resetSec });
    return true;
  }

  withExtra(): ExtraState {
    this.extra ??= new ExtraState();
    return this.extra;
  }

  pointsAt(endpoint: string, slot: number): number {
    if (this.endpoint !== endpoint) return otherPoints(this, endpoint)?.at(slot) ?? 0;
    const ring = this.extra?.ring;
    if (ring !== undefined) return ring.at(slot);
    return this.slot > lastForgottenSlot(slot) ? this.slotPoints : 0;
  }

  addPoints(endpoint: string, slot: number, points: number): void {
    if (this.endpoint === undefined) this.endpoint = endpoint;
    if (this.endpoint !== endpoint) {
      withOtherPoints(this, endpoint, slot).add(slot, points);
      return;
    }
    const ring = this.extra?.ring;
    if (ring !== undefined) {
      ring.add(slot, points);
    } else if (isAloneIn(this, slot)) {
      this.slotPoints = this.slot === slot ? this.slotPoints + points : points;
      this.slot = slot;
    } else {
      const made = new SlidingSum(this.slot);
      made.add(this.slot, this.slotPoints);
      made.add(slot, points);
      this.withExtra().ring = made;
    }
  }

  /** See `SlidingSum.slotsUntil`. */
  slotsUntilPoints(endpoint: string, slot: number, allowed: number): number {
    if (this.endpoint !== endpoint) {
      return otherPoints(this, endpoint)?.slotsUntil(slot, allowed) ?? 0;
    }
    const ring = this.extra?.ring;
    if (ring !== undefined) return ring.slotsUntil(slot, allowed);
    const sum = new SlidingSum(this.slot);
    sum.add(this.slot, this.slotPoints);
    return sum.slotsUntil(slot, allowed);
  }

  /** Returns the endpoints with points at `slot`. */
  pointList(slot: number): { endpoint: string; points: number }[] {
    const names = [this.endpoint ?? '', ...(this.extra?.points?.keys() ?? [])];
    return names
      .map((endpoint) => ({ endpoint, points: this.pointsAt(endpoint, slot) }))
      .filter(({ points }) => points > 0);
  }
}

// Functions instead of private methods, which would add a field to every identity.

/** Whether no other slot has points that still count. */
function isAloneIn(state: IdentityState, slot: number): boolean {
  if (state.slot === slot || state.slotPoints === 0) return true;
  return state.slot <= lastForgottenSlot(slot);
}

function otherPoints(state: IdentityState, endpoint: string): SlidingSum | undefined {
  const points = state.extra?.points;
  if (points === undefined) return undefined;
  const found = points.get(endpoint);
  if (found !== undefined || points.size < MAX_ENDPOINT_COUNT) return found;
  return points.get(OTHER_ENDPOINTS);
}

function withOtherPoints(state: IdentityState, endpoint: string, slot: number): SlidingSum {
  const extra = state.withExtra();
  extra.points ??= new Map();
  const isFull = extra.points.size >= MAX_ENDPOINT_COUNT && !extra.points.has(endpoint);
  const name = isFull ? OTHER_ENDPOINTS : endpoint;
  let sum = extra.points.get(name);
  if (sum === undefined) {
    sum = new SlidingSum(slot);
    extra.points.set(name, sum);
  }
  return sum;
}

/** Rare counters. Sums cover the last minute unless their name states another period. */
export class ExtraState {
  windows: Map<number, PrimaryWindow> | undefined = undefined;
  /** Points of `endpoint`. */
  ring: SlidingSum | undefined = undefined;
  points: Map<string, SlidingSum> | undefined = undefined;
  cpu: SlidingSum | undefined = undefined;
  cpuGraph: SlidingSum | undefined = undefined;
  contentMinute: SlidingSum | undefined = undefined;
  contentHour: SlidingSum | undefined = undefined;
  tokenHour: SlidingSum | undefined = undefined;
  /** Endpoints with their own content limit. */
  contentByEndpoint: Map<string, SlidingSum> | undefined = undefined;
  heavy: SlidingSum | undefined = undefined;
  rejectionCount = 0;
  rejectionsSinceMs = 0;
  bannedUntilMs = 0;
  banLevel = 0;
  /** End of the last ban, past or future. */
  lastBanMs = 0;
}
