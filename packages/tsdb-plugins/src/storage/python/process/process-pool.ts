/** An owner of a process, or of a slot for one. */
export interface PoolMember {
  readonly isIdle: boolean;
  /** Ends its process. Called only while it is idle. */
  retire(): void;
}

/**
 * Limits the number of concurrent processes. Idle processes are kept, because they contain the
 * caches of plugins. The least recently used one is ended if another is needed. If all are busy,
 * members wait in order.
 */
export class ProcessPool {
  readonly #limit: number;
  /** Called when a member has to wait for the first time. */
  readonly #onFull: (limit: number) => void;
  /** Least recently used first. */
  readonly #members = new Set<PoolMember>();
  #wasFull = false;
  readonly #waiting: { readonly member: PoolMember; readonly enter: () => void }[] = [];

  constructor(limit: number, onFull: (limit: number) => void) {
    this.#limit = limit;
    this.#onFull = onFull;
  }

  /** Resolves when the member may start a process. Call `leave` when it no longer has one. */
  async enter(member: PoolMember): Promise<void> {
    if (this.#members.size >= this.#limit) {
      const [idle] = [...this.#members].filter(({ isIdle }) => isIdle);
      if (idle === undefined) {
        if (!this.#wasFull) this.#onFull(this.#limit);
        this.#wasFull = true;
        await new Promise<void>((enter) => this.#waiting.push({ member, enter }));
        return;
      }
      this.#members.delete(idle);
      idle.retire();
    }
    this.#members.add(member);
  }

  used(member: PoolMember): void {
    if (this.#members.delete(member)) this.#members.add(member);
  }

  /** Call when a member becomes idle. Its slot is given to a waiting member. */
  idle(member: PoolMember): void {
    if (this.#waiting.length === 0 || !this.#members.has(member)) return;
    member.retire();
    this.leave(member);
  }

  /** Call when the member's process has ended. */
  leave(member: PoolMember): void {
    if (!this.#members.delete(member)) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#members.add(next.member);
    next.enter();
  }
}
