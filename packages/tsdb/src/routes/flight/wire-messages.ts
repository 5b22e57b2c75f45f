import protobuf from 'protobufjs/minimal.js';
import { GRPC, GrpcFailure } from '../grpc/grpc-status.js';

const { Reader, Writer } = protobuf;
type Reader = protobuf.Reader;

/** What reads one field of a message; others are skipped. */
type FieldReaders = Readonly<Record<number, (reader: Reader) => void>>;

const BYTES = 2;

/** Reads a message of Protocol Buffers. Throws `GrpcFailure` for what is none. */
export function decodeMessage(bytes: Uint8Array, fields: FieldReaders): void {
  try {
    const reader = Reader.create(bytes);
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      const read = fields[tag >>> 3];
      if (read === undefined) reader.skipType(tag & 7);
      else read(reader);
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
  return new Writer()
    .uint32(tagOf(1, BYTES))
    .string(typeUrl)
    .uint32(tagOf(2, BYTES))
    .bytes(value)
    .finish();
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

/** The bytes of a `Ticket`. */
export function decodeTicketMessage(bytes: Uint8Array): Uint8Array {
  let ticket: Uint8Array = new Uint8Array(0);
  decodeMessage(bytes, {
    1: (reader) => {
      ticket = reader.bytes();
    },
  });
  return ticket;
}
