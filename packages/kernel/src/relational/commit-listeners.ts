import type { Transaction } from 'kysely';

/** Who waits for the commit of a transaction. */
export class CommitListeners {
  /** By what runs the statements of one transaction, whatever tables a view of it knows. */
  readonly #listeners = new WeakMap<object, (() => void)[]>();

  add(tx: Pick<Transaction<never>, 'getExecutor'>, listener: () => void): void {
    const key = tx.getExecutor();
    const others = this.#listeners.get(key);
    if (others === undefined) this.#listeners.set(key, [listener]);
    else others.push(listener);
  }

  /** Runs a transaction; those who wait for it hear of it when it is durable, and never when it is not. */
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
