/** Something that running queries read: it is disposed of when it is retired and the last of them has ended. */
export class Pinned {
  #pins = 0;
  #isRetired = false;
  /** Nothing of it is left. */
  isDisposed = false;
  readonly #dispose: () => void;

  /** @param dispose called once; must not throw. */
  constructor(dispose: () => void) {
    this.#dispose = dispose;
  }

  /** No new query will read it. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** Somebody reads it. */
  get isPinned(): boolean {
    return this.#pins > 0;
  }

  pin(): void {
    this.#pins++;
  }

  unpin(): void {
    this.#pins--;
    this.#disposeIfUnused();
  }

  /** No new query will read it. */
  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#disposeIfUnused();
  }

  #disposeIfUnused(): void {
    if (!this.#isRetired || this.#pins > 0) return;
    this.isDisposed = true;
    this.#dispose();
  }
}
