/** Memory of one piece; rows that take more have memory of their own. */
const PIECE_BYTES = 512 * 1024;
/** What is given back beyond them is dropped. */
const MAX_KEPT = 4;
/** Smaller texts are often whole answers, which nobody gives back. */
const LEAST_BYTES = 64 * 1024;

/**
 * Memory for pieces of long answers, used again and again: the runtime counts fresh memory as a reason to collect garbage, and
 * an answer of two megabytes had as much of that as of everything else.
 */
export class PiecePool {
  readonly #kept: ArrayBuffer[] = [];

  /** `undefined`: not for so few or so many bytes. Contents are those of an earlier piece. */
  take(sizeBytes: number): Uint8Array | undefined {
    if (sizeBytes <= LEAST_BYTES || sizeBytes > PIECE_BYTES) return undefined;
    return new Uint8Array(this.#kept.pop() ?? new ArrayBuffer(PIECE_BYTES));
  }

  /** Nobody reads the piece any more. Other memory than the pool's is ignored; what is never given back is collected. */
  giveBack({ buffer }: Uint8Array): void {
    if (!(buffer instanceof ArrayBuffer) || buffer.byteLength !== PIECE_BYTES) return;
    if (this.#kept.length < MAX_KEPT) this.#kept.push(buffer);
  }
}
