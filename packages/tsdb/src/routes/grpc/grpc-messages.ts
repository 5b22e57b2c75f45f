import { gunzipBounded, messageOf, requestError } from '@plinth/kernel';
import { GRPC, GrpcFailure } from './grpc-status.js';

/**
 * Size of the flag and length before every message. Source: gRPC over HTTP/2,
 * "Length-Prefixed-Message".
 */
const PREFIX_BYTES = 5;

/**
 * Yields the messages of a call at the pace of the consumer.
 * @throws {GrpcFailure} for messages that exceed the limit, are truncated, or have an unknown
 * compression.
 */
export async function* readMessages(
  pieces: AsyncIterable<Uint8Array>,
  options: { readonly encoding: string; readonly maxSizeBytes: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  const { encoding, maxSizeBytes } = options;
  const gathered: Uint8Array[] = [];
  let size = 0;
  let needed = PREFIX_BYTES;
  for await (const piece of pieces) {
    gathered.push(piece);
    size += piece.length;
    if (size < needed) continue;
    let bytes = gathered.length === 1 ? piece : Buffer.concat(gathered);
    gathered.length = 0;
    for (;;) {
      needed = PREFIX_BYTES;
      if (bytes.length < PREFIX_BYTES) break;
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const messageSize = view.getUint32(1);
      if (messageSize > maxSizeBytes) throw tooLarge(messageSize, maxSizeBytes);
      needed = PREFIX_BYTES + messageSize;
      if (bytes.length < needed) break;
      const isCompressed = readFlag(view.getUint8(0));
      const message = bytes.subarray(PREFIX_BYTES, needed);
      yield isCompressed ? await inflate(message, encoding, maxSizeBytes) : message;
      bytes = bytes.subarray(needed);
    }
    size = bytes.length;
    if (size > 0) gathered.push(bytes);
  }
  if (size > 0) throw new GrpcFailure(GRPC.INTERNAL, 'the last message is truncated');
}

/** Returns the prefix of a message of `size` bytes. */
export function messagePrefix(size: number, isCompressed: boolean): Buffer {
  const prefix = Buffer.allocUnsafe(PREFIX_BYTES);
  prefix.writeUInt8(isCompressed ? 1 : 0, 0);
  prefix.writeUInt32BE(size, 1);
  return prefix;
}

function readFlag(flag: number): boolean {
  if (flag > 1)
    throw new GrpcFailure(GRPC.INTERNAL, `unknown message flag ${flag}; expected 0 or 1`);
  return flag === 1;
}

async function inflate(
  message: Uint8Array,
  encoding: string,
  maxSizeBytes: number,
): Promise<Uint8Array> {
  if (encoding !== 'gzip') {
    throw new GrpcFailure(
      GRPC.INTERNAL,
      'a message is compressed, but the request has no grpc-encoding header',
    );
  }
  try {
    return await gunzipBounded(message, maxSizeBytes);
  } catch (error) {
    if (requestError.is(error, 'body_too_large')) throw tooLarge(undefined, maxSizeBytes);
    throw new GrpcFailure(GRPC.INTERNAL, messageOf(error));
  }
}

function tooLarge(sizeBytes: number | undefined, maxSizeBytes: number): GrpcFailure {
  const size = sizeBytes === undefined ? 'a message' : `a message of ${sizeBytes} bytes`;
  return new GrpcFailure(
    GRPC.RESOURCE_EXHAUSTED,
    `${size} exceeds the limit of ${maxSizeBytes} bytes`,
  );
}
