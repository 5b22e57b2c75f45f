import { CommandFailed } from '../output/exit.js';

const MAX_TOLD_COUNT = 20;

/** What cannot be read of a source, told once although a source is read twice. */
export class Faults {
  readonly #told: string[] = [];
  #count = 0;
  /** Everything was looked at once: what comes now is no fault of the source. */
  isComplete = false;

  /** What made a file end before its end: the same when it is read again. */
  readonly ends = new Set<string>();

  get count(): number {
    return this.#count;
  }

  /** The first faults, and how many more there are. */
  get texts(): readonly string[] {
    const more = this.#count - this.#told.length;
    return more === 0 ? this.#told : [...this.#told, `... and ${more} more`];
  }

  add(text: string): void {
    if (this.isComplete) return;
    this.#count += 1;
    if (this.#told.length < MAX_TOLD_COUNT) this.#told.push(text);
  }

  /** For `catch`: a file that is damaged or foreign becomes a fault, and `instead` goes on in its place. */
  readonly taking =
    <T>(instead: T) =>
    (error: unknown): T => {
      if (!(error instanceof CommandFailed)) throw error;
      this.add(error.message);
      return instead;
    };
}
