/** Maximum number of bytes that a client may leave unread; above it, the stream is cut. */
export const MAX_WAITING_BYTES = 1_048_576;

/** The event stream of one client, with backpressure. */
export class LiveStream {
  readonly #isLetIn: () => boolean;
  readonly #onOver: () => void;
  #pieces: Buffer[] = [];
  /** Bytes of queued pieces, and of pieces that the transport has not delivered. */
  #waitingBytes = 0;
  #hasEnded = false;
  #isTaken = false;
  #wake: () => void = () => undefined;

  /**
   * @param isLetIn whether the client is still authorized; called before each piece.
   * @param onOver called once, when the stream accepts no more pieces.
   */
  constructor(isLetIn: () => boolean, onOver: () => void) {
    this.#isLetIn = isLetIn;
    this.#onOver = onOver;
  }

  /** Whether the client has read everything or has disconnected. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Whether less than half of the limit is unread. */
  get hasRoom(): boolean {
    return this.#waitingBytes < MAX_WAITING_BYTES / 2;
  }

  /**
   * Queues a piece. A piece for an empty queue may have any size, because it shows nothing about the client's speed.
   * @returns `false` if the piece does not fit behind unread data; it is dropped.
   */
  push(piece: Buffer): boolean {
    if (this.#hasEnded) return true;
    const waitingBytes = this.#waitingBytes + piece.length;
    if (this.#waitingBytes > 0 && waitingBytes > MAX_WAITING_BYTES) return false;
    this.#pieces.push(piece);
    this.#waitingBytes = waitingBytes;
    this.#wake();
    return true;
  }

  /** Ends the stream with `last`, and drops queued pieces. */
  cut(last: Buffer): void {
    if (this.#hasEnded) return;
    this.#pieces = [last];
    this.end();
  }

  /** Ends the stream after the queued pieces. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#wake();
    this.#onOver();
  }

  async *pieces(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for (;;) {
        const [first, ...others] = this.#pieces;
        const piece =
          first !== undefined && others.length === 0 ? first : Buffer.concat(this.#pieces);
        this.#pieces = [];
        this.#waitingBytes = piece.length;
        if (piece.length > 0 && this.#isLetIn()) yield piece;
        else if (piece.length > 0 || this.#hasEnded) return;
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
