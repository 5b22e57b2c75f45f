/**
 * A resource that running queries read. It is disposed of when it is retired and the last of them
 * has ended.
 */
export class Pinned {
  #pins = 0;
  #isRetired = false;
  /** True once `dispose` was called. */
  isDisposed = false;
  readonly #dispose: () => void;

  /** @param dispose is called once and must not throw. */
  constructor(dispose: () => void) {
    this.#dispose = dispose;
  }

  /** True if no new query may read it. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** True if a query reads it. */
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

  /** Prevents new queries from reading it. */
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
