interface Waiting {
  readonly begin: () => void;
  readonly refuse: (reason: Error) => void;
}

/**
 * Work that is done one at a time, of each asker in turn: whoever asks for much waits behind those who ask for little. A full line
 * takes a newcomer in place of the last one of whoever waits most often.
 */
export class FairLine {
  readonly #maxCount: number;
  readonly #maxCountPerAsker: number;
  readonly #refusal: () => Error;
  /** The asker whose turn is next stands first. */
  readonly #waiting = new Map<string, Waiting[]>();
  #waitingCount = 0;
  #isBusy = false;

  constructor(bounds: {
    readonly maxCount: number;
    readonly maxCountPerAsker: number;
    /** Thrown at whoever has no place. */
    readonly refusal: () => Error;
  }) {
    this.#maxCount = bounds.maxCount;
    this.#maxCountPerAsker = bounds.maxCountPerAsker;
    this.#refusal = bounds.refusal;
  }

  async run<T>(asker: string, work: () => Promise<T>): Promise<T> {
    if (this.#isBusy) await this.#wait(asker);
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #wait(asker: string): Promise<void> {
    const own = this.#waiting.get(asker) ?? [];
    if (own.length >= this.#maxCountPerAsker) throw this.#refusal();
    if (this.#waitingCount >= this.#maxCount) this.#displaceFor(own.length);
    this.#waitingCount++;
    this.#waiting.set(asker, own);
    return new Promise((begin, refuse) => {
      own.push({ begin, refuse });
    });
  }

  #displaceFor(ownCount: number): void {
    const [most] = [...this.#waiting.values()].sort((a, b) => b.length - a.length);
    if (most === undefined || most.length <= ownCount + 1) throw this.#refusal();
    most.pop()?.refuse(this.#refusal());
    this.#waitingCount--;
  }

  /** The place goes from one to the next without being free in between. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#isBusy = false;
      return;
    }
    const [asker, own] = first;
    this.#waiting.delete(asker);
    const next = own.shift();
    if (own.length > 0) this.#waiting.set(asker, own);
    this.#waitingCount--;
    next?.begin();
  }
}
