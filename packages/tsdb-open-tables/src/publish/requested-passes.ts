import type { TableSchema } from '@plinth/tsdb-model/schema.js';

interface Waiting {
  /** By id. */
  readonly tables: Map<number, TableSchema>;
  readonly done: Promise<void>;
}

/**
 * Runs passes over requested tables: one at a time, and requests during a pass share the next one.
 * A request whose client has disconnected therefore leaves no pass of its own.
 */
export class RequestedPasses {
  readonly #run: (tables: readonly TableSchema[]) => Promise<void>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Waiting | undefined;

  constructor(run: (tables: readonly TableSchema[]) => Promise<void>) {
    this.#run = run;
  }

  /** Resolves after a pass over these tables that started after this call. */
  async request(tables: readonly TableSchema[]): Promise<void> {
    if (tables.length === 0) return;
    this.#next ??= this.#schedule();
    for (const table of tables) this.#next.tables.set(table.id, table);
    await this.#next.done;
  }

  #schedule(): Waiting {
    const tables = new Map<number, TableSchema>();
    const done = this.#running.then(async () => {
      this.#next = undefined;
      await this.#run([...tables.values()]);
    });
    this.#running = done.catch(() => undefined); // the callers report the failure
    return { tables, done };
  }
}
