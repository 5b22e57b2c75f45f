/** Batches that are a little larger than they should be fit, too; one huge row does not. */
const BODY_BYTES = 256 * 1024;

/** One is on its way, one in the making, one behind a slow socket. */
const MAX_FREE_COUNT = 3;

/** Bytes that their holder gives back when nobody reads them any more. */
export interface LentBytes {
  readonly bytes: Buffer;
  release(): void;
}

/**
 * Memory for the bodies of one stream's batches, used again when they have been sent. The collector counts what lies outside of
 * its heap: a new body for each batch makes it look at the whole heap several times a second.
 */
export class BodyPool {
  readonly #free: Buffer[] = [];

  take(sizeBytes: number): LentBytes {
    if (sizeBytes > BODY_BYTES) {
      return { bytes: Buffer.allocUnsafeSlow(sizeBytes), release: () => undefined };
    }
    // A few rows do not need the room of many.
    const isSmall = sizeBytes < BODY_BYTES / 4;
    const room = this.#free.pop() ?? Buffer.allocUnsafeSlow(isSmall ? sizeBytes : BODY_BYTES);
    let isLent = true;
    return {
      bytes: room.subarray(0, sizeBytes),
      release: () => {
        if (!isLent) return;
        isLent = false;
        if (room.length === BODY_BYTES && this.#free.length < MAX_FREE_COUNT) this.#free.push(room);
      },
    };
  }
}
