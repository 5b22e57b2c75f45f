import type { Version } from '../model/edition.js';
import type { Edition } from './publication.js';

/** Maximum number of old versions in memory. */
const MAX_OPEN_EDITIONS = 3;

/** LRU cache of versions before the current one, loaded on request. */
export class OldEditions {
  readonly #read: (version: Version) => Promise<Edition>;
  readonly #open = new Map<number, Promise<Edition>>();

  constructor(read: (version: Version) => Promise<Edition>) {
    this.#read = read;
  }

  async edition(version: Version): Promise<Edition> {
    const { version: number } = version;
    let edition = this.#open.get(number);
    if (edition === undefined) {
      edition = this.#read(version);
      edition.catch(() => this.#open.delete(number));
      const [oldest] = this.#open.keys();
      if (this.#open.size >= MAX_OPEN_EDITIONS && oldest !== undefined) this.#open.delete(oldest);
    } else this.#open.delete(number);
    // Moves the entry to the end, as the most recently used.
    this.#open.set(number, edition);
    return await edition;
  }

  retainOnly(retained: readonly Version[]): void {
    for (const number of this.#open.keys()) {
      if (!retained.some(({ version }) => version === number)) this.#open.delete(number);
    }
  }
}
