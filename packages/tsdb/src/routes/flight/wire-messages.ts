import { isUtf8 } from 'node:buffer';
import protobuf from 'protobufjs/minimal.js';
import { GRPC, GrpcFailure } from '../grpc/grpc-status.js';

const { Reader, Writer } = protobuf;
type Reader = protobuf.Reader;

/** Reads one field of a message. */
type FieldReader = (reader: Reader, wireType: number) => void;

/** Readers by field number; other fields are skipped. */
type FieldReaders = Readonly<Record<number, FieldReader>>;

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;

/** Reads a Protocol Buffers message. Throws `GrpcFailure` for invalid bytes. */
export function decodeMessage(bytes: Uint8Array, fields: FieldReaders): void {
  try {
    const reader = Reader.create(bytes);
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      const take = fields[tag >>> 3];
      if (take === undefined) reader.skipType(tag & 7);
      else take(reader, tag & 7);
    }
  } catch (error) {
    if (error instanceof GrpcFailure) throw error;
    throw new GrpcFailure(GRPC.INVALID_ARGUMENT, 'invalid protobuf message');
  }
}

type Take<T> = (value: T) => void;

/** Reads a field that must have the wire type of its declaration. */
const field =
  <T>(expected: number, get: (reader: Reader) => T) =>
  (take: Take<T>): FieldReader =>
  (reader, wireType) => {
    if (wireType !== expected)
      throw new Error(`unexpected wire type ${wireType}; expected ${expected}`);
    take(get(reader));
  };

/** Field readers by type; each passes the value to a callback. */
export const read = {
  text: field(BYTES, readText),
  bytes: field(BYTES, (reader) => reader.bytes()),
  number: field(VARINT, (reader) => reader.int32()),
  bool: field(VARINT, (reader) => reader.bool()),
  double: field(FIXED_64, (reader) => reader.double()),
  long: field(VARINT, (reader) => BigInt(reader.int64().toString())),
  unsignedLong: field(VARINT, (reader) => BigInt(reader.uint64().toString())),
};

function readText(reader: Reader): string {
  const bytes = reader.bytes();
  if (!isUtf8(bytes)) throw new Error('the text is not valid UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

/** Source: Protocol Buffers, "Any". */
export interface AnyMessage {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

export function decodeAny(bytes: Uint8Array): AnyMessage {
  let typeUrl = '';
  let value: Uint8Array = new Uint8Array(0);
  decodeMessage(bytes, {
    1: read.text((value) => {
      typeUrl = value;
    }),
    2: read.bytes((found) => {
      value = found;
    }),
  });
  return { typeUrl, value };
}

export function encodeAny({ typeUrl, value }: AnyMessage): Uint8Array {
  return new MessageWriter().text(1, typeUrl).bytes(2, value).finish();
}

/** Writes a Protocol Buffers message field by field. Each method takes the field number first. */
export class MessageWriter {
  readonly #writer = new Writer();

  bytes(field: number, value: Uint8Array): this {
    this.#writer.uint32(tagOf(field, BYTES)).bytes(value);
    return this;
  }

  text(field: number, value: string): this {
    this.#writer.uint32(tagOf(field, BYTES)).string(value);
    return this;
  }

  number(field: number, value: number): this {
    this.#writer.uint32(tagOf(field, VARINT)).int32(value);
    return this;
  }

  long(field: number, value: bigint): this {
    // A string keeps all bits, and signed and unsigned 64-bit integers share them.
    this.#writer.uint32(tagOf(field, VARINT)).int64(BigInt.asIntN(64, value).toString());
    return this;
  }

  double(field: number, value: number): this {
    this.#writer.uint32(tagOf(field, FIXED_64)).double(value);
    return this;
  }

  finish(): Uint8Array {
    return this.#writer.finish();
  }
}

const tagOf = (field: number, wireType: number): number => (field << 3) | wireType;

const HEADER_TAG = tagOf(2, BYTES);
const BODY_TAG = tagOf(1000, BYTES);

/**
 * Encodes an Arrow message as `FlightData` without copying the body. Source: Arrow Flight,
 * `Flight.proto`.
 */
export function encodeFlightData(header: Uint8Array, body: Uint8Array): readonly Uint8Array[] {
  const writer = new Writer().uint32(HEADER_TAG).bytes(header);
  if (body.length === 0) return [writer.finish()];
  return [writer.uint32(BODY_TAG).uint32(body.length).finish(), body];
}
