import type { Clock } from '../../clock/clock.js';
import type { Principal } from '../access/principal.js';
import { requestError } from '../request-error.js';

/** A body that is not whole yet brings so much in each span: 1 kB/s, the tenth of what a bad line of a telephone carries. */
const SPAN_MS = 20_000;
const MIN_SPAN_BYTES = 20_000;
/** Whole after so long in any case; one of the usual limit passes at 35 kB/s. */
const LONGEST_MS = 300_000;
const LOOK_MS = 5_000;
/** Of all the room, what one caller may take, and what all may that are no operators. */
const CALLER_PART = 1 / 2;
const OTHERS_PART = 3 / 4;

/** All bodies of requests that are held in memory, on their way or being handled: how large they are together, and whether they come. */
export class BodyBudget implements Disposable {
  readonly #clock: Clock;
  readonly #limitBytes: number;
  readonly #coming = new Set<BodyReservation>();
  readonly #looking: Disposable;
  /** Of callers that are no operators. */
  readonly #byCaller = new Map<string, number>();
  #othersBytes = 0;
  #sizeBytes = 0;

  constructor(clock: Clock, limitBytes: number) {
    this.#clock = clock;
    this.#limitBytes = limitBytes;
    this.#looking = clock.every(LOOK_MS, () => this.#endSlow());
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  begin(principal: Principal): BodyReservation {
    const caller = callerOf(principal);
    return new BodyReservation({
      sinceMs: this.#clock.monotonicMs(),
      grow: (bytes) => this.#grow(bytes, caller),
      coming: this.#coming,
    });
  }

  [Symbol.dispose](): void {
    this.#looking[Symbol.dispose]();
  }

  /** No tenant takes the room of all others, nor all tenants that of the operator. */
  #grow(bytes: number, caller: string | undefined): boolean {
    if (bytes > 0 && this.#sizeBytes + bytes > this.#limitBytes) return false;
    if (caller !== undefined) {
      const own = (this.#byCaller.get(caller) ?? 0) + bytes;
      const isTooMuch =
        own > this.#limitBytes * CALLER_PART ||
        this.#othersBytes + bytes > this.#limitBytes * OTHERS_PART;
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
    for (const body of this.#coming) body.look(nowMs);
  }
}

/** Who shares a part of the room; `undefined`: an operator. */
function callerOf(principal: Principal): string | undefined {
  switch (principal.kind) {
    case 'admin':
    // Bodies of nobody are taken where everybody may do everything.
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

/** One of them. */
export class BodyReservation {
  readonly #sinceMs: number;
  readonly #grow: (bytes: number) => boolean;
  readonly #coming: Set<BodyReservation>;
  #sizeBytes = 0;
  #cameBytes = 0;
  #spanSinceMs: number;
  #spanBytes = 0;
  #end: ((error: Error) => void) | undefined;

  constructor(at: {
    readonly sinceMs: number;
    /** @returns false: there is no room. */
    readonly grow: (bytes: number) => boolean;
    readonly coming: Set<BodyReservation>;
  }) {
    this.#sinceMs = at.sinceMs;
    this.#spanSinceMs = at.sinceMs;
    this.#grow = at.grow;
    this.#coming = at.coming;
  }

  /** @param end called with `body_too_slow` when the rest does not come in time. */
  awaitRest(end: (error: Error) => void): void {
    this.#end = end;
    this.#coming.add(this);
  }

  /** Bytes have come. @returns false: there is no room for them. */
  came(bytes: number): boolean {
    this.#cameBytes += bytes;
    return this.add(bytes);
  }

  /** Memory is needed for it. @returns false: there is none. */
  add(bytes: number): boolean {
    const isRoom = this.#grow(bytes);
    if (isRoom) this.#sizeBytes += bytes;
    return isRoom;
  }

  /** Nothing more is waited for. */
  ended(): void {
    this.#coming.delete(this);
  }

  /** Its memory is free. */
  release(): void {
    this.ended();
    this.#grow(-this.#sizeBytes);
    this.#sizeBytes = 0;
  }

  look(nowMs: number): void {
    const isLate = nowMs - this.#sinceMs >= LONGEST_MS;
    if (!isLate && nowMs - this.#spanSinceMs < SPAN_MS) return;
    if (isLate || this.#cameBytes - this.#spanBytes < MIN_SPAN_BYTES) {
      this.ended();
      this.#end?.(requestError('body_too_slow'));
    }
    this.#spanSinceMs = nowMs;
    this.#spanBytes = this.#cameBytes;
  }
}
