import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import type { IntervalValue } from '@plinth/tsdb-model/sql-type.js';
import { floorDiv, NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';
import type { Vector } from 'apache-arrow';
import { encapsulated } from '../../arrow/schema-message.js';
import { GRPC, GrpcFailure } from '../../grpc/grpc-status.js';
import type { FlightQuery } from '../run-query.js';
import { decodeMessage, read } from '../wire-messages.js';
import { bytesAt, decodeCommand } from './commands.js';
import { decodeHandle, placeholdersIn } from './prepared-statement.js';

/**
 * Reads a `DoPut` call: the statement in the first message, its parameters as one row of a record
 * batch. Columns are matched by placeholder name, or by position unless all names match.
 */
export async function bindParameters(
  messages: AsyncIterable<Uint8Array>,
  maxSizeBytes: number,
): Promise<FlightQuery> {
  const parts: Uint8Array[] = [];
  let query: FlightQuery | undefined;
  let size = 0;
  for await (const message of messages) {
    const { command, header, body } = decodeFlightData(message);
    query ??= statementOf(command);
    size += header.length + body.length;
    if (size > maxSizeBytes) {
      throw new GrpcFailure(
        GRPC.RESOURCE_EXHAUSTED,
        `the parameters exceed ${maxSizeBytes} bytes; send fewer or shorter values`,
      );
    }
    if (header.length > 0) parts.push(encapsulated(header), body);
  }
  if (query === undefined) throw invalid('the call does not name a prepared statement');
  return { ...query, params: await readRow(Buffer.concat(parts), placeholdersIn(query.text)) };
}

const invalid = (why: string): GrpcFailure => new GrpcFailure(GRPC.INVALID_ARGUMENT, why);

function statementOf(command: Uint8Array): FlightQuery {
  const decoded = decodeCommand(command);
  if (decoded.kind === 'prepared_statement') return decodeHandle(decoded.handle);
  throw new GrpcFailure(
    GRPC.UNIMPLEMENTED,
    'unsupported command; DoPut accepts only parameters of prepared statements',
  );
}

function decodeFlightData(bytes: Uint8Array) {
  let command: Uint8Array = new Uint8Array(0);
  let header: Uint8Array = new Uint8Array(0);
  let body: Uint8Array = new Uint8Array(0);
  decodeMessage(bytes, {
    1: read.bytes((descriptor) => {
      command = bytesAt(descriptor, 2);
    }),
    2: read.bytes((value) => {
      header = value;
    }),
    1000: read.bytes((value) => {
      body = value;
    }),
  });
  return { command, header, body };
}

async function readRow(
  stream: Uint8Array,
  names: readonly string[],
): Promise<ReadonlyMap<string, ParameterValue>> {
  // A large module that only this function needs.
  const { tableFromIPC, DataType } = await import('apache-arrow');
  const table = attempt(() => tableFromIPC(stream));
  if (table.numRows > 1) throw invalid('too many parameter rows; bind one row per statement');
  if (table.schema.fields.length === 0) throw invalid('the parameter batch has no columns');
  const params = new Map<string, ParameterValue>();
  if (table.numRows === 0) return params;
  const columns = table.schema.fields.map(({ name }) => name.replace(/^\$/, ''));
  // Some clients number columns from 0, so some names may match by chance.
  const isNamed = columns.every((name) => names.includes(name));
  columns.forEach((name, index) => {
    const target = isNamed ? name : names[index];
    const vector = table.getChildAt(index);
    if (target === undefined || vector === null) return;
    params.set(
      target,
      attempt(() => parameterOf(vector, DataType)),
    );
  });
  return params;
}

/** Converts library errors about invalid bytes to client errors. */
function attempt<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof GrpcFailure) throw error;
    throw invalid('invalid parameters: the record batch cannot be decoded');
  }
}

function parameterOf(
  vector: Vector,
  DataType: typeof import('apache-arrow').DataType,
): ParameterValue {
  const { type } = vector;
  if (!vector.isValid(0)) return null;
  if (DataType.isTimestamp(type)) {
    // `Vector.get` returns milliseconds; the raw value is exact.
    const counts = vector.data[0]?.values as BigInt64Array | undefined;
    return timeText(counts?.[0] ?? 0n, UNIT_DIGITS[type.unit]);
  }
  const value: unknown = vector.get(0);
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (DataType.isInt(type)) return BigInt(value as number | bigint);
  if (DataType.isFloat(type)) return Number(value);
  if (DataType.isDecimal(type)) return decimalOf(value as Uint32Array, type.scale);
  if (value instanceof Uint8Array) return value;
  if (DataType.isTime(type)) return timeOfDayText(BigInt(value as number | bigint), type.unit);
  if (DataType.isDuration(type)) return durationOf(BigInt(value as number | bigint), type.unit);
  if (DataType.isDate(type)) return new Date(Number(value)).toISOString().slice(0, 10);
  throw invalid(
    `parameters of type ${String(type)} are not supported; use a boolean, number, string, binary, date, time, timestamp or duration`,
  );
}

/** Fraction digits of a second by Arrow time unit. */
const UNIT_DIGITS = [0, 3, 6, 9] as const;

/** Formats an instant as a timestamp string with full precision. */
function timeText(count: bigint, digits: number): string {
  const perSecond = 10n ** BigInt(digits);
  const seconds = floorDiv(count, perSecond);
  const milliseconds = Number(seconds) * 1000;
  if (Math.abs(milliseconds) > MAX_DATE_MS)
    throw invalid(
      `a timestamp parameter is out of range; the maximum is ${new Date(MAX_DATE_MS).toISOString()}`,
    );
  const whole = new Date(milliseconds).toISOString().slice(0, 'YYYY-MM-DDThh:mm:ss'.length);
  const fraction = String(count - seconds * perSecond).padStart(digits, '0');
  return digits === 0 ? `${whole}Z` : `${whole}.${fraction}Z`;
}

/** Formats a time of day. */
function timeOfDayText(count: bigint, unit: number): string {
  const nanos = count * 10n ** BigInt(9 - (UNIT_DIGITS[unit] ?? 9));
  if (nanos < 0n || nanos >= NS_PER_DAY)
    throw invalid('a time-of-day parameter is out of range; use 00:00:00 to 23:59:59.999999999');
  return timeText(nanos, 9).slice('1970-01-01T'.length, -1);
}

function durationOf(count: bigint, unit: number): IntervalValue {
  return { months: 0, days: 0, nanos: count * 10n ** BigInt(9 - (UNIT_DIGITS[unit] ?? 9)) };
}

/** Source: ECMAScript, "Time Values and Time Range". Four-digit years are a smaller range. */
const MAX_DATE_MS = Date.UTC(9999, 11, 31);

/** Converts little-endian words of an unscaled decimal. */
function decimalOf(words: Uint32Array, scale: number): number {
  const unsigned = words.reduce(
    (sum, word, index) => sum + (BigInt(word) << BigInt(32 * index)),
    0n,
  );
  const unscaled = BigInt.asIntN(32 * words.length, unsigned);
  return Number(`${unscaled}e${-scale}`);
}
