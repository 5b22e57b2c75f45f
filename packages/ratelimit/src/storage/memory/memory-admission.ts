import type { Decision, LimitKind } from '../../model/decision.js';
import type { Plan } from '../../model/plan.js';
import type { IdentityState } from './identity-state.js';

/** A decision that is also a node of the linked list of running requests. */
export class MemoryAdmission implements Decision {
  isAllowed = false;
  limitedBy: LimitKind | undefined = undefined;
  limit = 0;
  used = 0;
  resetSec = 0;
  retryAfterSec = 0;
  hasSlot = false;
  startedMs = 0;
  /** Set immediately after construction. */
  plan!: Plan;
  state!: IdentityState;
  previous: MemoryAdmission | undefined = undefined;
  next: MemoryAdmission | undefined = undefined;
  /** Called about once per second while the request runs. */
  onTick: (() => void) | undefined = undefined;
}

/** Marks the admission as refused. Nothing has been charged. */
export function refuse(admission: MemoryAdmission, kind: LimitKind, retryAfterSec: number): void {
  admission.limitedBy = kind;
  admission.retryAfterSec = retryAfterSec;
}

/** Running admissions, oldest first, as a ring with a sentinel. */
export class RunningRequests {
  readonly #ring = new MemoryAdmission();

  add(admission: MemoryAdmission): void {
    const last = this.#ring.previous ?? this.#ring;
    admission.previous = last;
    admission.next = this.#ring;
    last.next = admission;
    this.#ring.previous = admission;
  }

  /** @returns whether the admission was in the list. */
  remove(admission: MemoryAdmission): boolean {
    const { next, previous } = admission;
    if (next === undefined || previous === undefined) return false;
    previous.next = next;
    next.previous = previous;
    admission.next = undefined;
    admission.previous = undefined;
    return true;
  }

  /** Calls `visit` for requests that started at or before `untilMs`. */
  forEachSince(untilMs: number, visit: (admission: MemoryAdmission) => void): void {
    for (let running = this.#ring.next; running !== undefined; running = running.next) {
      if (running === this.#ring || running.startedMs > untilMs) break;
      visit(running);
    }
  }
}
