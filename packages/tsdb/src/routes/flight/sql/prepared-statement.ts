import type { ParameterValue } from '../../../domain/sql/planned-query.js';
import { tsdbError } from '../../../errors.js';
import type { SqlType } from '../../../model/sql-type.js';
import {
  type ArrowField,
  type ArrowType,
  arrowFieldOf,
  plainField,
} from '../../arrow/arrow-field.js';
import { encapsulated, schemaMessage } from '../../arrow/schema-message.js';
import type { FlightDeps } from '../../deps.js';
import { GRPC, GrpcFailure } from '../../grpc/grpc-status.js';
import { type FlightQuery, openInfluxql } from '../run-query.js';
import { decodeTicket, encodeTicket } from '../ticket.js';
import { encodeAny, MessageWriter } from '../wire-messages.js';
import { anyOf, bytesAt, decodeNamed, textAt } from './commands.js';

/**
 * The handle of a prepared statement is the statement itself with its parameters: nothing is kept for a client that may
 * never come back, and any node can run it.
 */
export function encodeHandle(query: FlightQuery): Uint8Array {
  return encodeTicket({ kind: 'query', ...query });
}

export function decodeHandle(handle: Uint8Array): FlightQuery {
  const ticket = decodeTicket(handle);
  if (ticket.kind === 'query') return ticket;
  throw new GrpcFailure(GRPC.INVALID_ARGUMENT, 'the handle is of no prepared statement');
}

/** Answers `CreatePreparedStatement`. @returns the body of the action's one result. */
export async function prepareStatement(
  body: Uint8Array,
  at: Pick<FlightQuery, 'database' | 'language'>,
  deps: FlightDeps,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const given = textAt(decodeNamed(body, 'ActionCreatePreparedStatementRequest'), 1);
  const text = at.language === 'sql' ? numbered(given) : given;
  const names = placeholdersIn(text);
  const query = { ...at, text, params: new Map<string, ParameterValue>() };
  const shape = await shapeOf(query, names, deps, signal);
  const result = new MessageWriter().bytes(1, encodeHandle(query));
  if (shape !== undefined) result.bytes(2, encapsulated(schemaMessage(shape.fields)));
  if (names.length > 0) {
    const parameters = names.map((name) =>
      plainField(`$${name}`, bindableType(shape?.parameterTypes.get(name))),
    );
    result.bytes(3, encapsulated(schemaMessage(parameters)));
  }
  const value = result.finish();
  return encodeAny(anyOf('ActionCreatePreparedStatementResult', value));
}

export function closeStatement(body: Uint8Array): void {
  decodeHandle(bytesAt(decodeNamed(body, 'ActionClosePreparedStatementRequest'), 1));
}

/**
 * Times may be sent in any unit. The driver of JDBC fills in milliseconds whatever unit it is told, so it is told the one that
 * it has, also of times of day.
 */
const MILLISECONDS: SqlType = { kind: 'timestamp', unit: 'ms', zone: undefined };

/** What a client is told to send: text where the statement takes any type, or one that a parameter cannot have. */
function bindableType(type: SqlType = { kind: 'utf8' }): ArrowType {
  switch (type.kind) {
    case 'boolean':
    case 'int':
    case 'float':
    case 'date':
    case 'binary':
      return type;
    case 'time':
      return { kind: 'time_ms' };
    case 'decimal':
      return { kind: 'float', bits: 64 };
    case 'timestamp':
      return MILLISECONDS;
    default:
      return { kind: 'utf8' };
  }
}

interface StatementShape {
  readonly fields: readonly ArrowField[];
  /** Types of those parameters that are NULL, as far as the statement says them. */
  readonly parameterTypes: ReadonlyMap<string, SqlType>;
}

/** `undefined` when what the statement answers with depends on parameters that are yet to come. */
async function shapeOf(
  query: FlightQuery,
  names: readonly string[],
  deps: FlightDeps,
  signal: AbortSignal,
): Promise<StatementShape | undefined> {
  if (names.length === 0) return await describeQuery(query, deps, signal);
  try {
    const params = new Map(names.map((name) => [name, null]));
    return await describeQuery({ ...query, params }, deps, signal);
  } catch (error) {
    if (tsdbError.is(error, 'plan_error')) return undefined;
    throw error;
  }
}

/** A query as clients hear of it before it is run. */
export async function describeQuery(
  query: FlightQuery,
  deps: FlightDeps,
  signal: AbortSignal,
): Promise<StatementShape> {
  if (query.language === 'sql') {
    const { columns, parameterTypes } = await deps.engine.describe({
      ...query,
      language: 'sql',
      access: deps.access,
    });
    return { fields: columns.map(arrowFieldOf), parameterTypes };
  }
  const { fields, giveUp } = await openInfluxql(query, deps, signal);
  giveUp();
  return { fields, parameterTypes: new Map() };
}

/** What stands in quotes or in comments is none; an open end counts as one, so that no text is read twice. */
const TOKEN =
  /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\$(?<name>[A-Za-z_][A-Za-z0-9_]*|\d+)|(?<mark>\?)/g;

/** Numbers beyond it are taken for names: a list of all before them would be made for nothing. */
const MAX_NUMBERED = 1000;

/**
 * Names of the placeholders of a statement, each once: in the order of their first place, or in that of their numbers when
 * they are numbers, also of those that are left out.
 */
export function placeholdersIn(text: string): readonly string[] {
  const names = [
    ...new Set([...text.matchAll(TOKEN)].flatMap(({ groups }) => groups?.['name'] ?? [])),
  ];
  const last = Math.max(0, ...names.slice(0, MAX_NUMBERED).map(Number));
  if (!(last <= MAX_NUMBERED) || names.length > MAX_NUMBERED) return names;
  return Array.from({ length: last }, (_, index) => String(index + 1));
}

/** Placeholders without a name, as ODBC and JDBC have them, get their number. */
function numbered(text: string): string {
  let count = 0;
  return text.replace(TOKEN, (token, ...rest) => {
    const { mark } = rest.at(-1) as { readonly mark?: string };
    return mark === undefined ? token : `$${++count}`;
  });
}
