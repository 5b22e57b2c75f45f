/**
 * Runs a function at most once per time window, and again at the end of the window if it was
 * requested in between.
 */
export class Paced {
  readonly #run: () => void;
  readonly #windowMs: number;
  #window: ReturnType<typeof setTimeout> | undefined;
  #isWanted = false;

  constructor(run: () => void, windowMs: number) {
    this.#run = run;
    this.#windowMs = windowMs;
  }

  request(): void {
    if (this.#window === undefined) this.now();
    else this.#isWanted = true;
  }

  /** Runs immediately and starts another window. */
  now(): void {
    this.stop();
    this.#window = setTimeout(() => {
      this.#window = undefined;
      if (this.#isWanted) this.now();
    }, this.#windowMs);
    this.#run();
  }

  stop(): void {
    clearTimeout(this.#window);
    this.#window = undefined;
    this.#isWanted = false;
  }
}
