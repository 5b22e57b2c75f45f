import protobuf from 'protobufjs/minimal.js';
import { GRPC, GrpcFailure } from '../grpc/grpc-status.js';

const { Reader, Writer } = protobuf;
type Reader = protobuf.Reader;

/** What reads one field of a message; others are skipped. */
type FieldReaders = Readonly<Record<number, (reader: Reader, wireType: number) => void>>;

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;

/** Reads a message of Protocol Buffers. Throws `GrpcFailure` for what is none. */
export function decodeMessage(bytes: Uint8Array, fields: FieldReaders): void {
  try {
    const reader = Reader.create(bytes);
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      const read = fields[tag >>> 3];
      if (read === undefined) reader.skipType(tag & 7);
      else read(reader, tag & 7);
    }
  } catch (error) {
    if (error instanceof GrpcFailure) throw error;
    throw new GrpcFailure(GRPC.INVALID_ARGUMENT, 'a message cannot be decoded');
  }
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
    1: (reader) => {
      typeUrl = reader.string();
    },
    2: (reader) => {
      value = reader.bytes();
    },
  });
  return { typeUrl, value };
}

export function encodeAny({ typeUrl, value }: AnyMessage): Uint8Array {
  return new MessageWriter().text(1, typeUrl).bytes(2, value).finish();
}

/** Writes a message of Protocol Buffers field by field; each method takes the number of its field. */
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
    // Text keeps all bits, and both kinds of 64-bit integers have the same ones.
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

/** An Arrow message as `FlightData`; the body goes out as it is. Source: Arrow Flight, `Flight.proto`. */
export function encodeFlightData(header: Uint8Array, body: Uint8Array): readonly Uint8Array[] {
  const writer = new Writer().uint32(HEADER_TAG).bytes(header);
  if (body.length === 0) return [writer.finish()];
  return [writer.uint32(BODY_TAG).uint32(body.length).finish(), body];
}
