import type { Transaction } from 'kysely';

/** Listeners for the commit of a transaction. */
export class CommitListeners {
  /** Keyed by the executor of a transaction, which all typed views of it share. */
  readonly #listeners = new WeakMap<object, (() => void)[]>();

  add(tx: Pick<Transaction<never>, 'getExecutor'>, listener: () => void): void {
    const key = tx.getExecutor();
    const others = this.#listeners.get(key);
    if (others === undefined) this.#listeners.set(key, [listener]);
    else others.push(listener);
  }

  /** Runs a transaction and calls its listeners after a durable commit. */
  async hear<DB, T>(
    run: (work: (tx: Transaction<DB>) => Promise<T>) => Promise<T>,
    work: (tx: Transaction<DB>) => Promise<T>,
  ): Promise<T> {
    let key: object | undefined;
    const result = await run(async (tx) => {
      key = tx.getExecutor();
      return await work(tx);
    });
    for (const listener of (key && this.#listeners.get(key)) ?? []) listener();
    return result;
  }
}
