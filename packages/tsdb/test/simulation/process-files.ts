import type { FolderObjectStore } from '@plinth/kernel';

const MAX_NOTES = 2000;

/**
 * Signals that the simulated process has ended; the simulation's process continues, and so does
 * unawaited work.
 */
class ProcessEnded extends Error {
  override readonly name = 'ProcessEnded';
}

/**
 * The object store from the view of one node's process. File removals are not awaited, so a closed
 * or killed node may still have some queued. Removals that have not started when the process ends must not affect the
 * files of the next process.
 */
export class ProcessFiles {
  readonly #process: number;
  readonly #notes: string[];
  readonly #underWay = new Set<Promise<unknown>>();
  #hasEnded = false;

  /** @param notes receives the history of files for debugging; bounded. */
  constructor(process: number, notes: string[]) {
    this.#process = process;
    this.#notes = notes;
  }

  around(store: FolderObjectStore): FolderObjectStore {
    return {
      put: (name, parts) => this.#change(`put ${name}`, () => store.put(name, parts)),
      adopt: (name, path) => this.#change(`adopt ${name}`, () => store.adopt(name, path)),
      delete: (name) => this.#change(`delete ${name}`, () => store.delete(name)),
      get: (name, range) => store.get(name, range),
      getRanges: (name, ranges) => store.getRanges(name, ranges),
      list: (prefix) => store.list(prefix),
      localPath: (name) => store.localPath(name),
    };
  }

  /** Resolves when the process no longer changes files. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await Promise.allSettled(this.#underWay);
  }

  async #change(what: string, call: () => Promise<void>): Promise<void> {
    this.#note(this.#hasEnded ? `${what} (it has ended)` : what);
    if (this.#hasEnded) throw new ProcessEnded(`process ${this.#process} has ended: ${what}`);
    const change = call();
    this.#underWay.add(change);
    try {
      await change;
    } finally {
      this.#underWay.delete(change);
    }
  }

  #note(what: string): void {
    this.#notes.push(`process ${this.#process}: ${what}`);
    if (this.#notes.length > MAX_NOTES) this.#notes.shift();
  }
}
