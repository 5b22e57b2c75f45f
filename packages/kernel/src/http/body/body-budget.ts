import type { Clock } from '../../clock/clock.js';
import type { Principal } from '../access/principal.js';
import { requestError } from '../request-error.js';

/** An incomplete body must make this minimum progress per span: 1 kB/s, a tenth of the speed of a slow modem. */
const SPAN_MS = 20_000;
const MIN_SPAN_BYTES = 20_000;
/** The maximum time for a complete body. A body of the usual maximum size takes this long at 35 kB/s. */
const MAX_DURATION_MS = 300_000;
const CHECK_INTERVAL_MS = 5_000;
/** The share of the budget for one caller, and for all callers other than operators. */
const CALLER_SHARE = 1 / 2;
const OTHERS_SHARE = 3 / 4;

/** The memory budget of all request bodies, and the progress check of incoming ones. */
export class BodyBudget implements Disposable {
  readonly #clock: Clock;
  readonly #limitBytes: number;
  readonly #receiving = new Set<BodyReservation>();
  readonly #checkTimer: Disposable;
  /** Reserved bytes by caller; excludes operators. */
  readonly #byCaller = new Map<string, number>();
  #othersBytes = 0;
  #sizeBytes = 0;

  constructor(clock: Clock, limitBytes: number) {
    this.#clock = clock;
    this.#limitBytes = limitBytes;
    this.#checkTimer = clock.every(CHECK_INTERVAL_MS, () => this.#endSlow());
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  begin(principal: Principal): BodyReservation {
    const caller = callerOf(principal);
    return new BodyReservation({
      sinceMs: this.#clock.monotonicMs(),
      grow: (bytes) => this.#grow(bytes, caller),
      receiving: this.#receiving,
    });
  }

  [Symbol.dispose](): void {
    this.#checkTimer[Symbol.dispose]();
  }

  /** No tenant can exhaust the budget of other tenants, and all tenants together leave memory for the operator. */
  #grow(bytes: number, caller: string | undefined): boolean {
    if (bytes > 0 && this.#sizeBytes + bytes > this.#limitBytes) return false;
    if (caller !== undefined) {
      const own = (this.#byCaller.get(caller) ?? 0) + bytes;
      const isTooMuch =
        own > this.#limitBytes * CALLER_SHARE ||
        this.#othersBytes + bytes > this.#limitBytes * OTHERS_SHARE;
      if (bytes > 0 && isTooMuch) return false;
      if (own > 0) this.#byCaller.set(caller, own);
      else this.#byCaller.delete(caller);
      this.#othersBytes += bytes;
    }
    this.#sizeBytes += bytes;
    return true;
  }

  #endSlow(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const body of this.#receiving) body.checkProgress(nowMs);
  }
}

/** Returns the caller that a body is accounted to; `undefined` for an operator. */
function callerOf(principal: Principal): string | undefined {
  switch (principal.kind) {
    case 'admin':
    // Without authorization, every anonymous caller is an operator.
    case 'anonymous':
      return undefined;
    case 'grantee':
      return `grantee:${principal.id}`;
    case 'platform_key':
      return `platform:${principal.platform}`;
    case 'editor':
      return `editor:${principal.name}`;
    case 'app':
      return `app:${principal.appId}`;
    case 'user':
      return `user:${principal.userId}`;
    case 'installation':
      return `installation:${principal.installationId}`;
    case 'oauth_app':
      return `oauth_app:${principal.clientId}`;
    case 'repository':
      return `repository:${principal.repositoryId}`;
  }
}

export class BodyReservation {
  readonly #sinceMs: number;
  readonly #grow: (bytes: number) => boolean;
  readonly #receiving: Set<BodyReservation>;
  #sizeBytes = 0;
  #receivedBytes = 0;
  #spanSinceMs: number;
  #spanBytes = 0;
  #end: ((error: Error) => void) | undefined;

  constructor(options: {
    readonly sinceMs: number;
    /** @returns false when the budget is exhausted. */
    readonly grow: (bytes: number) => boolean;
    readonly receiving: Set<BodyReservation>;
  }) {
    this.#sinceMs = options.sinceMs;
    this.#spanSinceMs = options.sinceMs;
    this.#grow = options.grow;
    this.#receiving = options.receiving;
  }

  /** @param end called with `body_too_slow` when the remaining bytes do not arrive in time. */
  awaitRest(end: (error: Error) => void): void {
    this.#end = end;
    this.#receiving.add(this);
  }

  /** Accounts for received bytes. @returns false when the budget is exhausted. */
  noteReceived(bytes: number): boolean {
    this.#receivedBytes += bytes;
    return this.add(bytes);
  }

  /** Reserves memory. @returns false when the budget is exhausted. */
  add(bytes: number): boolean {
    const isRoom = this.#grow(bytes);
    if (isRoom) this.#sizeBytes += bytes;
    return isRoom;
  }

  /** Stops the progress check. */
  ended(): void {
    this.#receiving.delete(this);
  }

  /** Releases the memory. */
  release(): void {
    this.ended();
    this.#grow(-this.#sizeBytes);
    this.#sizeBytes = 0;
  }

  checkProgress(nowMs: number): void {
    const isLate = nowMs - this.#sinceMs >= MAX_DURATION_MS;
    if (!isLate && nowMs - this.#spanSinceMs < SPAN_MS) return;
    if (isLate || this.#receivedBytes - this.#spanBytes < MIN_SPAN_BYTES) {
      this.ended();
      this.#end?.(requestError('body_too_slow'));
    }
    this.#spanSinceMs = nowMs;
    this.#spanBytes = this.#receivedBytes;
  }
}
