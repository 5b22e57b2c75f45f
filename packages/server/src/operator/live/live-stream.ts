/** What one client has not taken yet; more, and it is cut. */
export const MAX_WAITING_BYTES = 1_048_576;

/** What one client is sent, as it takes it. */
export class LiveStream {
  readonly #onOver: () => void;
  #pieces: Buffer[] = [];
  /** Of the pieces, and of those that the transport has and the client has not. */
  #waitingBytes = 0;
  #isOver = false;
  #wake: () => void = () => undefined;

  /** @param onOver called once, when nothing more is taken for it. */
  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  /** `false`: it does not take what it was sent, and is to be cut. */
  push(piece: Buffer): boolean {
    if (this.#isOver) return true;
    this.#pieces.push(piece);
    this.#waitingBytes += piece.length;
    this.#wake();
    return this.#waitingBytes <= MAX_WAITING_BYTES;
  }

  /** Ends it with `last` in place of all that waits. */
  cut(last: Buffer): void {
    if (this.#isOver) return;
    this.#pieces = [last];
    this.end();
  }

  /** What waits is still sent. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake();
    this.#onOver();
  }

  async *pieces(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for (;;) {
        const piece = Buffer.concat(this.#pieces);
        this.#pieces = [];
        this.#waitingBytes = piece.length;
        if (piece.length > 0) yield piece;
        else if (this.#isOver) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      this.end();
    }
  }
}
