/** Somebody who has a process, or is about to have one. */
export interface PoolMember {
  readonly isIdle: boolean;
  /** Gives its process up; called only while it is idle. */
  retire(): void;
}

/**
 * How many processes there are at a time. They stay when they have nothing to do, because what plugins remember is in them;
 * the one that was used longest ago makes room for another. When all are busy, who needs one waits for its turn.
 */
export class ProcessPool {
  readonly #limit: number;
  /** Told when somebody has to wait for the first time. */
  readonly #onFull: (limit: number) => void;
  /** Used longest ago first. */
  readonly #members = new Set<PoolMember>();
  #wasFull = false;
  readonly #waiting: { readonly member: PoolMember; readonly enter: () => void }[] = [];

  constructor(limit: number, onFull: (limit: number) => void) {
    this.#limit = limit;
    this.#onFull = onFull;
  }

  /** Resolves when the member may start a process. `leave` must be called when it has none. */
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

  /** It has nothing to do: whoever waits takes its place. */
  idle(member: PoolMember): void {
    if (this.#waiting.length === 0 || !this.#members.has(member)) return;
    member.retire();
    this.leave(member);
  }

  /** Its process has ended. */
  leave(member: PoolMember): void {
    if (!this.#members.delete(member)) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#members.add(next.member);
    next.enter();
  }
}
