import type { Decision, LimitKind } from '../../model/decision.js';
import type { Plan } from '../../model/plan.js';
import type { IdentityState } from './identity-state.js';

/** A decision and, while the request runs, a link of the chain of running requests. */
export class MemoryAdmission implements Decision {
  isAllowed = false;
  limitedBy: LimitKind | undefined = undefined;
  limit = 0;
  used = 0;
  resetSec = 0;
  retryAfterSec = 0;
  hasSlot = false;
  startedMs = 0;
  /** Set at once by whoever makes one for a request. */
  plan!: Plan;
  state!: IdentityState;
  previous: MemoryAdmission | undefined = undefined;
  next: MemoryAdmission | undefined = undefined;
  /** Called about every second while the request runs. */
  onTick: (() => void) | undefined = undefined;
}

/** Nothing has been charged yet, and nothing will be. */
export function refuse(admission: MemoryAdmission, kind: LimitKind, retryAfterSec: number): void {
  admission.limitedBy = kind;
  admission.retryAfterSec = retryAfterSec;
}

/** Admissions that have not ended, oldest first: a ring through one that is none. */
export class RunningRequests {
  readonly #ring = new MemoryAdmission();

  add(admission: MemoryAdmission): void {
    const last = this.#ring.previous ?? this.#ring;
    admission.previous = last;
    admission.next = this.#ring;
    last.next = admission;
    this.#ring.previous = admission;
  }

  /** @returns whether it was there. */
  remove(admission: MemoryAdmission): boolean {
    const { next, previous } = admission;
    if (next === undefined || previous === undefined) return false;
    previous.next = next;
    next.previous = previous;
    admission.next = undefined;
    admission.previous = undefined;
    return true;
  }

  /** Calls for those that began at `untilMs` or before. */
  forEachSince(untilMs: number, see: (admission: MemoryAdmission) => void): void {
    for (let running = this.#ring.next; running !== undefined; running = running.next) {
      if (running === this.#ring || running.startedMs > untilMs) break;
      see(running);
    }
  }
}
