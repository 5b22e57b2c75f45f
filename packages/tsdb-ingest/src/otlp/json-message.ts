import { messageOf, parseJson } from '@plinth/kernel';
import { MAX_INT64, MAX_UINT64, MIN_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import { MessageWriter } from '../messages/message-writer.js';
import { BYTES, FIXED_64, MessageInvalid, tagOf, VARINT } from '../messages/proto-cursor.js';
import {
  type JsonField,
  type JsonMessage,
  METRICS_REQUEST,
  type ScalarType,
} from './json-schema.js';

/** Maximum number of list items and object members in a request. */
const MAX_VALUE_COUNT = 2_000_000;

/**
 * Encodes a metrics request in JSON as Protocol Buffers, so that both have one parser. Throws
 * `MessageInvalid`. Source: OTLP, "JSON Protobuf Encoding".
 */
export function metricsMessage(body: Uint8Array): Uint8Array {
  return encode(METRICS_REQUEST, parse(body), 'the body');
}

function parse(body: Uint8Array): unknown {
  try {
    return parseJson(body, { maxValueCount: MAX_VALUE_COUNT });
  } catch (error) {
    throw new MessageInvalid(
      error instanceof SyntaxError ? 'the body is not valid JSON' : messageOf(error),
    );
  }
}

function encode(message: JsonMessage, value: unknown, path: string): Uint8Array {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MessageInvalid(`${path} is not an object`);
  const writer = new MessageWriter();
  for (const [name, given] of Object.entries(value)) {
    const field = message.get(name);
    // In JSON, null is an absent field.
    if (field === undefined || given === null) continue;
    const at = path === 'the body' ? name : `${path}.${name}`;
    if (!field.isRepeated) encodeField(writer, field, given, at);
    else if (Array.isArray(given))
      for (const [i, item] of given.entries()) encodeField(writer, field, item, `${at}[${i}]`);
    else throw new MessageInvalid(`${at} is not a list`);
  }
  return writer.take();
}

function encodeField(writer: MessageWriter, field: JsonField, value: unknown, path: string): void {
  const { number, type } = field;
  if (typeof type === 'function') {
    writer.field(tagOf(number, BYTES), encode(type(), value, path));
    return;
  }
  const { wireType, isValid, what, write } = SCALARS[type];
  if (!isValid(value)) throw new MessageInvalid(`${path} is not ${what}`);
  writer.uint(tagOf(number, wireType));
  write(writer, value);
}

interface Scalar {
  readonly wireType: number;
  readonly what: string;
  isValid(value: unknown): boolean;
  /** Call only with valid values. */
  write(writer: MessageWriter, value: unknown): void;
}

const writeBytes = (writer: MessageWriter, bytes: Uint8Array): void => {
  writer.uint(bytes.length);
  writer.bytes(bytes);
};

const isDigits = (value: unknown): value is string =>
  typeof value === 'string' && /^-?\d{1,20}$/.test(value);

/** A 64-bit integer is a string or a number. */
const integer = (
  [from, to]: readonly [bigint, bigint],
  rest: Pick<Scalar, 'wireType' | 'what'> & { put(writer: MessageWriter, value: bigint): void },
): Scalar => ({
  ...rest,
  isValid: (value) => {
    if (!Number.isInteger(value) && !isDigits(value)) return false;
    const exact = BigInt(value as number | string);
    return exact >= from && exact <= to;
  },
  write: (writer, value) => rest.put(writer, BigInt(value as number | string)),
});

const UINT_64 = [0n, MAX_UINT64] as const;
const INT_64 = [MIN_INT64, MAX_INT64] as const;
const unsigned = 'an unsigned 64-bit integer';
const signed = 'a 64-bit integer';
const fixed = (writer: MessageWriter, value: bigint): void => writer.fixed(value);
const long = (writer: MessageWriter, value: bigint): void => writer.long(value);
/** Numbers that JSON cannot represent. */
const NOT_FINITE: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);
const isNumberText = (value: unknown): value is string =>
  typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value);

const SCALARS: Readonly<Record<ScalarType, Scalar>> = {
  string: {
    wireType: BYTES,
    what: 'a string',
    isValid: (value) => typeof value === 'string',
    write: (writer, value) => writeBytes(writer, Buffer.from(value as string)),
  },
  bytes: {
    wireType: BYTES,
    what: 'a string in Base64',
    isValid: (value) => typeof value === 'string' && /^[\w+/-]*={0,2}$/.test(value),
    write: (writer, value) => writeBytes(writer, Buffer.from(value as string, 'base64')),
  },
  bool: {
    wireType: VARINT,
    what: 'true or false',
    isValid: (value) => typeof value === 'boolean',
    write: (writer, value) => writer.uint(value === true ? 1 : 0),
  },
  double: {
    wireType: FIXED_64,
    what: 'a number',
    isValid: (value) => typeof value === 'number' || NOT_FINITE.has(value) || isNumberText(value),
    write: (writer, value) => writer.double(NOT_FINITE.get(value) ?? Number(value)),
  },
  fixed64: integer(UINT_64, { wireType: FIXED_64, what: unsigned, put: fixed }),
  sfixed64: integer(INT_64, { wireType: FIXED_64, what: signed, put: fixed }),
  int64: integer(INT_64, { wireType: VARINT, what: signed, put: long }),
  uint64: integer(UINT_64, { wireType: VARINT, what: unsigned, put: long }),
  sint32: integer([-(2n ** 31n), 2n ** 31n - 1n], {
    wireType: VARINT,
    what: 'a 32-bit integer',
    put: (writer, value) => writer.long(value >= 0n ? 2n * value : -2n * value - 1n),
  }),
  uint32: integer([0n, 2n ** 32n - 1n], {
    wireType: VARINT,
    what: 'an unsigned 32-bit integer',
    put: long,
  }),
};
