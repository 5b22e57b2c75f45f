import { isUtf8 } from 'node:buffer';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import type { IntervalValue } from '@plinth/tsdb-model/sql-type.js';
import { GRPC, GrpcFailure } from '../grpc/grpc-status.js';
import { parseJsonParameter, readParams, readText } from '../query/json-request.js';
import { decodeAny, decodeMessage, encodeAny, MessageWriter, read } from './wire-messages.js';

export type QueryLanguage = 'sql' | 'influxql';

/** The content of a ticket. Source: tsdb-http, §20.1. */
export type Ticket =
  | {
      readonly kind: 'query';
      readonly database: string;
      readonly language: QueryLanguage;
      readonly text: string;
      readonly params: ReadonlyMap<string, ParameterValue>;
    }
  | {
      readonly kind: 'flight_sql';
      readonly database: string;
      /** A Flight SQL command as an `Any`. */
      readonly command: Uint8Array;
    };

const READ_INFO_URL = 'type.googleapis.com/influxdata.iox.querier.v1.ReadInfo';
const DATABASE_NAMES = ['database', 'namespace_name', 'bucket', 'bucket-name'];

/** Throws `GrpcFailure`. */
export function decodeTicket(bytes: Uint8Array): Ticket {
  try {
    return isJson(bytes) ? decodeJson(utf8(bytes)) : decodeReadInfo(bytes);
  } catch (error) {
    if (error instanceof InvalidTicket) throw refusal(error.message);
    if (tsdbError.is(error, 'parameter_invalid')) throw refusal(error.message);
    if (error instanceof GrpcFailure) throw refusal('Invalid ticket');
    throw error;
  }
}

class InvalidTicket extends Error {
  override readonly name = 'InvalidTicket';
}

const refusal = (why: string): GrpcFailure =>
  new GrpcFailure(GRPC.INVALID_ARGUMENT, `Invalid ticket. Error: ${why}`);

/** Checks for an opening brace, with which no protobuf message starts. */
const isJson = (bytes: Uint8Array): boolean =>
  /^\s*\{/.test(Buffer.from(bytes).toString('latin1', 0, 64));

/** Decodes UTF-8. Throws for invalid bytes, which must not be decoded to a different name. */
function utf8(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new InvalidTicket('Invalid ticket');
  return Buffer.from(bytes).toString();
}

function decodeJson(text: string): Ticket {
  const object = parseJsonParameter(text);
  const databases = new Set(DATABASE_NAMES.flatMap((name) => readText(object, name) ?? []));
  if (databases.size > 1)
    throw new InvalidTicket('the ticket contains different databases; use only one');
  const [database] = databases;
  if (database === undefined) throw new InvalidTicket('missing field `database`');
  if (readText(object, 'rp'))
    throw new InvalidTicket(
      '`rp` is not supported; specify the retention policy in `database`, as in mydb/rp',
    );
  const query = readText(object, 'sql_query');
  if (query === undefined) throw new InvalidTicket('missing field `sql_query`');
  const language = readText(object, 'query_type') ?? 'sql';
  if (language !== 'sql' && language !== 'influxql') {
    throw new InvalidTicket(`unknown query_type \`${language}\`, expected \`sql\` or \`influxql\``);
  }
  return { kind: 'query', database, language, text: query, params: readParams(object['params']) };
}

/** Encodes a ticket as `ReadInfo`, the form that this server issues. */
export function encodeTicket(ticket: Ticket): Uint8Array {
  const info = new MessageWriter().text(1, ticket.database);
  if (ticket.kind === 'flight_sql') {
    info.number(3, QUERY_TYPE.FLIGHT_SQL).bytes(4, ticket.command);
  } else {
    info.text(2, ticket.text);
    info.number(3, ticket.language === 'sql' ? QUERY_TYPE.SQL : QUERY_TYPE.INFLUXQL);
    for (const [name, value] of ticket.params) info.bytes(6, encodeParam(name, value));
  }
  return encodeAny({ typeUrl: READ_INFO_URL, value: info.finish() });
}

function encodeParam(name: string, value: ParameterValue): Uint8Array {
  const param = new MessageWriter().text(1, name);
  if (value === null) param.number(2, 0);
  else if (typeof value === 'boolean') param.number(3, value ? 1 : 0);
  else if (typeof value === 'number') param.double(4, value);
  else if (typeof value === 'string') param.text(7, value);
  else if (typeof value === 'bigint') param.long(value >= 0n ? 6 : 5, value);
  else if (value instanceof Uint8Array) param.bytes(BYTES_FIELD, value);
  else param.text(INTERVAL_FIELD, `${value.months} ${value.days} ${value.nanos}`);
  return param.finish();
}

/** Extensions of this server, which only its own handles contain. */
const BYTES_FIELD = 1001;
const INTERVAL_FIELD = 1002;

const QUERY_TYPE = { UNSPECIFIED: 0, SQL: 1, INFLUXQL: 2, FLIGHT_SQL: 3 } as const;

function decodeReadInfo(bytes: Uint8Array): Ticket {
  const { typeUrl, value } = decodeAny(bytes);
  const info = typeUrl === READ_INFO_URL ? value : bytes;
  let database = '';
  let text = '';
  let queryType = 0;
  let command: Uint8Array = new Uint8Array(0);
  const params = new Map<string, ParameterValue>();
  decodeMessage(info, {
    1: read.text((value) => {
      database = value;
    }),
    2: read.text((value) => {
      text = value;
    }),
    3: read.number((value) => {
      queryType = value;
    }),
    4: read.bytes((value) => {
      command = value;
    }),
    6: read.bytes((bytes) => {
      const [name, param] = decodeParam(bytes);
      params.set(name, param);
    }),
  });
  if (database === '') throw new InvalidTicket('Invalid ticket');
  switch (queryType) {
    case QUERY_TYPE.UNSPECIFIED:
    case QUERY_TYPE.SQL:
      return { kind: 'query', database, language: 'sql', text, params };
    case QUERY_TYPE.INFLUXQL:
      return { kind: 'query', database, language: 'influxql', text, params };
    case QUERY_TYPE.FLIGHT_SQL:
      return { kind: 'flight_sql', database, command };
    default:
      throw new InvalidTicket('Invalid ticket');
  }
}

function decodeParam(bytes: Uint8Array): readonly [string, ParameterValue] {
  let name = '';
  let value: ParameterValue = null;
  decodeMessage(bytes, {
    1: read.text((value) => {
      name = value;
    }),
    2: read.number(() => {
      value = null;
    }),
    3: read.bool((found) => {
      value = found;
    }),
    4: read.double((found) => {
      value = found;
    }),
    5: read.long((found) => {
      value = found;
    }),
    6: read.unsignedLong((found) => {
      value = found;
    }),
    7: read.text((found) => {
      value = found;
    }),
    [BYTES_FIELD]: read.bytes((found) => {
      value = found;
    }),
    [INTERVAL_FIELD]: read.text((found) => {
      value = intervalOf(found);
    }),
  });
  return [name, value];
}

function intervalOf(text: string): IntervalValue {
  const match = /^(-?\d{1,9}) (-?\d{1,9}) (-?\d{1,19})$/.exec(text);
  if (match === null) throw new InvalidTicket('Invalid ticket');
  const [, months, days, nanos = ''] = match;
  return { months: Number(months), days: Number(days), nanos: BigInt(nanos) };
}
