import type { ObjectStore } from '@plinth/kernel';

const MAX_NOTES = 2000;

/** A process that has ended; the simulation's own is still there, and so is what it has not waited for. */
class ProcessEnded extends Error {
  override readonly name = 'ProcessEnded';
}

/**
 * The store of files as the process of one node sees it. Nobody waits for the removal of files, so that a node which is closed or
 * killed still has some ahead of it: what a process has not begun when it ends must not be done to the files of the next one.
 */
export class ProcessFiles {
  readonly #process: number;
  readonly #notes: string[];
  readonly #underWay = new Set<Promise<unknown>>();
  #hasEnded = false;

  /** @param notes hears what became of which file, for whoever looks for the cause of a failure; bounded. */
  constructor(process: number, notes: string[]) {
    this.#process = process;
    this.#notes = notes;
  }

  around(store: ObjectStore): ObjectStore {
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

  /** Resolves when the process changes no file any more. */
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
