import { CommandFailed } from '@plinth/server/process/command-failed.js';

const MAX_REPORTED_COUNT = 20;

/** Unreadable parts of a source, each reported once although a source is read twice. */
export class Faults {
  readonly #reported: string[] = [];
  #count = 0;
  /** Set after the first pass. Later errors are not faults of the source. */
  isComplete = false;

  /** Why files are truncated. The second pass finds the same causes again. */
  readonly ends = new Set<string>();

  get count(): number {
    return this.#count;
  }

  /** The first faults, and the number of further ones. */
  get texts(): readonly string[] {
    const more = this.#count - this.#reported.length;
    return more === 0 ? this.#reported : [...this.#reported, `... and ${more} more`];
  }

  add(text: string): void {
    if (this.isComplete) return;
    this.#count += 1;
    if (this.#reported.length < MAX_REPORTED_COUNT) this.#reported.push(text);
  }

  /** For `catch`: records a corrupt or foreign file as a fault and returns `instead`. */
  readonly taking =
    <T>(instead: T) =>
    (error: unknown): T => {
      if (!(error instanceof CommandFailed)) throw error;
      this.add(error.message);
      return instead;
    };
}
