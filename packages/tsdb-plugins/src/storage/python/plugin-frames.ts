/** Frames between the server and a plugin worker. Source: docs/formats/plugin-frames.md. */

const MAX_FRAME_BYTES = 256 * 1024 * 1024;

/** `t` is the frame type. */
export type FrameHeader = { readonly t: string } & Readonly<Record<string, unknown>>;

export interface Frame {
  readonly header: FrameHeader;
  /** Shares memory with the received bytes. */
  readonly body: Buffer;
}

export class FrameInvalid extends Error {
  override readonly name = 'FrameInvalid';
}

/**
 * Returns the pieces of a frame, to be written in order. Throws `FrameInvalid` if it exceeds the
 * limit.
 */
export function encodeFrame(
  header: FrameHeader,
  body: readonly Uint8Array[] = [],
): readonly Uint8Array[] {
  const text = Buffer.from(JSON.stringify(header));
  const sizeBytes = 4 + text.length + body.reduce((sum, part) => sum + part.byteLength, 0);
  if (sizeBytes > MAX_FRAME_BYTES) {
    throw new FrameInvalid(
      `a message of ${sizeBytes} bytes exceeds the limit of ${MAX_FRAME_BYTES} bytes`,
    );
  }
  const lengths = Buffer.allocUnsafe(8);
  lengths.writeUInt32LE(sizeBytes, 0);
  lengths.writeUInt32LE(text.length, 4);
  return [Buffer.concat([lengths, text]), ...body];
}

/** Assembles frames from the received pieces. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #sizeBytes = 0;
  /** Bytes required for the next step. */
  #neededBytes = 8;

  /**
   * Yields the frames that this piece completes. After it throws `FrameInvalid`, nothing more can
   * be read.
   */
  *push(piece: Buffer): Generator<Frame, void, undefined> {
    this.#pieces.push(piece);
    this.#sizeBytes += piece.length;
    while (this.#sizeBytes >= this.#neededBytes) {
      const bytes = this.#joined();
      const sizeBytes = bytes.readUInt32LE(0);
      const headerBytes = bytes.readUInt32LE(4);
      if (sizeBytes > MAX_FRAME_BYTES || sizeBytes < 4 + headerBytes) {
        throw new FrameInvalid(`invalid frame length ${sizeBytes}`);
      }
      const end = 4 + sizeBytes;
      if (bytes.length < end) {
        this.#neededBytes = end;
        return;
      }
      this.#pieces = bytes.length > end ? [bytes.subarray(end)] : [];
      this.#sizeBytes -= end;
      this.#neededBytes = 8;
      yield {
        header: readHeader(bytes.subarray(8, 8 + headerBytes)),
        body: bytes.subarray(8 + headerBytes, end),
      };
    }
  }

  #joined(): Buffer {
    const [only] = this.#pieces;
    if (this.#pieces.length === 1 && only !== undefined) return only;
    const bytes = Buffer.concat(this.#pieces, this.#sizeBytes);
    this.#pieces = [bytes];
    return bytes;
  }
}

function readHeader(bytes: Buffer): FrameHeader {
  const header: unknown = JSON.parse(bytes.toString());
  if (typeof header !== 'object' || header === null || !('t' in header)) {
    throw new FrameInvalid('a frame has no type');
  }
  return header as FrameHeader; // an object with `t`; readers check what else they use
}
