/** What one client has not taken yet; more, and it is cut. */
export const MAX_WAITING_BYTES = 1_048_576;

/** What one client is sent, as it takes it. */
export class LiveStream {
  readonly #isLetIn: () => boolean;
  readonly #onOver: () => void;
  #pieces: Buffer[] = [];
  /** Of the pieces, and of those that the transport has and the client has not. */
  #waitingBytes = 0;
  #isOver = false;
  #isTaken = false;
  #wake: () => void = () => undefined;

  /**
   * @param isLetIn whether its client may still follow; asked before each piece that is handed out.
   * @param onOver called once, when nothing more is taken for it.
   */
  constructor(isLetIn: () => boolean, onOver: () => void) {
    this.#isLetIn = isLetIn;
    this.#onOver = onOver;
  }

  /** Whether its client has taken it to its end, or has left. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /**
   * A piece for which nothing has to wait may be of any size: it says nothing of how fast the client is.
   * @returns `false`: there is no room behind what the client has not taken yet, and the piece is left out.
   */
  push(piece: Buffer): boolean {
    if (this.#isOver) return true;
    const waitingBytes = this.#waitingBytes + piece.length;
    if (this.#waitingBytes > 0 && waitingBytes > MAX_WAITING_BYTES) return false;
    this.#pieces.push(piece);
    this.#waitingBytes = waitingBytes;
    this.#wake();
    return true;
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
        if (piece.length > 0 && this.#isLetIn()) yield piece;
        else if (piece.length > 0 || this.#isOver) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      this.#isTaken = true;
      this.end();
    }
  }
}
