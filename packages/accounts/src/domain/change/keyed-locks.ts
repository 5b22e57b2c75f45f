/** Locks by name. Several locks are acquired together in sorted order, which prevents deadlocks. */
export class KeyedLocks {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `work` while holding all keys. */
  async with<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const releases: (() => void)[] = [];
    try {
      for (const key of [...new Set(keys)].sort()) releases.push(await this.#take(key));
      return await work();
    } finally {
      for (const release of releases) release();
    }
  }

  async #take(key: string): Promise<() => void> {
    const before = this.#tails.get(key);
    let free: () => void = () => {};
    const tail = new Promise<void>((resolve) => {
      free = resolve;
    });
    this.#tails.set(key, tail);
    await before;
    return () => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
      free();
    };
  }
}
