import type { Clock } from './clock.js';

/** The maximum of the 12-bit counter. */
const MAX_COUNTER = 0xfff;

/**
 * Version 7 UUIDs that always increase: `rand_a` is a counter within the millisecond. The clock may stop or step back,
 * and a full counter continues in the next millisecond.
 * Source: RFC 9562, section 6.2, method 1.
 */
export class UuidV7Maker {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #bytes: (sizeBytes: number) => Uint8Array;
  #lastMs = -1;
  #counter = 0;

  constructor(clock: Pick<Clock, 'nowMs'>, bytes: (sizeBytes: number) => Uint8Array) {
    this.#clock = clock;
    this.#bytes = bytes;
  }

  next(): string {
    const random = Buffer.from(this.#bytes(10));
    const nowMs = this.#clock.nowMs();
    if (nowMs > this.#lastMs) {
      this.#lastMs = nowMs;
      // The counter starts in the lower half, to leave room in a busy millisecond.
      this.#counter = random.readUInt16BE(8) & (MAX_COUNTER >> 1);
    } else if (this.#counter < MAX_COUNTER) {
      this.#counter += 1;
    } else {
      this.#lastMs += 1;
      this.#counter = 0;
    }
    const time = this.#lastMs.toString(16).padStart(12, '0');
    const counter = this.#counter.toString(16).padStart(3, '0');
    const variant = (0x8000 | (random.readUInt16BE(6) & 0x3fff)).toString(16);
    const tail = random.toString('hex', 0, 6);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${variant}-${tail}`;
  }
}
