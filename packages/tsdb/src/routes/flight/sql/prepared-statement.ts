import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
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
 * Encodes a prepared statement and its parameters as the handle. The server keeps no state for
 * clients that may not return, and any node can run the statement.
 */
export function encodeHandle(query: FlightQuery): Uint8Array {
  return encodeTicket({ kind: 'query', ...query });
}

export function decodeHandle(handle: Uint8Array): FlightQuery {
  const ticket = decodeTicket(handle);
  if (ticket.kind === 'query') return ticket;
  throw new GrpcFailure(GRPC.INVALID_ARGUMENT, 'the handle does not refer to a prepared statement');
}

/** Handles `CreatePreparedStatement`. @returns the body of the action's single result. */
export async function prepareStatement(
  body: Uint8Array,
  options: Pick<FlightQuery, 'database' | 'language'>,
  deps: FlightDeps,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const given = textAt(decodeNamed(body, 'ActionCreatePreparedStatementRequest'), 1);
  const text = options.language === 'sql' ? numbered(given) : given;
  const names = placeholdersIn(text);
  const query = { ...options, text, params: new Map<string, ParameterValue>() };
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
 * Clients may send times in any unit. The JDBC driver sends milliseconds regardless of the declared
 * unit, so milliseconds are declared, also for times of day.
 */
const MILLISECONDS: SqlType = { kind: 'timestamp', unit: 'ms', zone: undefined };

/**
 * Returns the parameter type declared to clients. It is text if the statement accepts any type, or
 * one that parameters cannot have.
 */
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
  /** Types of the NULL parameters, if the statement determines them. */
  readonly parameterTypes: ReadonlyMap<string, SqlType>;
}

/** Returns `undefined` if the result columns depend on parameters that are not bound yet. */
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

/** Returns the columns and parameter types of a query without running it. */
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

/**
 * Matches placeholders outside of quotes and comments. An unterminated quote extends to the end, so
 * that no text is scanned twice.
 */
const TOKEN =
  /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\$(?<name>[A-Za-z_][A-Za-z0-9_]*|\d+)|(?<mark>\?)/g;

/** Larger numbers are treated as names, to avoid a long list of unused parameters. */
const MAX_NUMBERED = 1000;

/**
 * Returns the distinct placeholder names of a statement: in order of appearance, or, if they are
 * numbers, all numbers up to the highest.
 */
export function placeholdersIn(text: string): readonly string[] {
  const names = [
    ...new Set([...text.matchAll(TOKEN)].flatMap(({ groups }) => groups?.['name'] ?? [])),
  ];
  const last = Math.max(0, ...names.slice(0, MAX_NUMBERED).map(Number));
  if (!(last <= MAX_NUMBERED) || names.length > MAX_NUMBERED) return names;
  return Array.from({ length: last }, (_, index) => String(index + 1));
}

/** Numbers the unnamed placeholders of ODBC and JDBC. */
function numbered(text: string): string {
  let count = 0;
  return text.replace(TOKEN, (token, ...rest) => {
    const { mark } = rest.at(-1) as { readonly mark?: string };
    return mark === undefined ? token : `$${++count}`;
  });
}
