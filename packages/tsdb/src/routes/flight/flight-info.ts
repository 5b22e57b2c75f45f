import type { ArrowField } from '../arrow/arrow-field.js';
import { encapsulated, schemaMessage } from '../arrow/schema-message.js';
import type { FlightDeps } from '../deps.js';
import type { GrpcCall } from '../grpc/grpc-call.js';
import { GRPC, GrpcFailure } from '../grpc/grpc-status.js';
import { databaseOfCall, languageOfCall } from './call-database.js';
import type { FlightQuery } from './run-query.js';
import { fieldsOfCommand } from './sql/catalog-results.js';
import { type Command, decodeCommand } from './sql/commands.js';
import { decodeHandle, describeQuery } from './sql/prepared-statement.js';
import { encodeTicket, type Ticket } from './ticket.js';
import { decodeMessage, MessageWriter, read } from './wire-messages.js';

const DESCRIPTOR_CMD = 2;

/** The value is not known before the query has run. */
const UNKNOWN = -1;

/**
 * Returns the schema and the ticket of a command's result. Source: Arrow Flight, `GetFlightInfo`.
 */
export async function getFlightInfo(call: GrpcCall, deps: FlightDeps): Promise<void> {
  const descriptor = await call.message();
  const command = decodeDescriptor(descriptor);
  const { fields, ticket } = await planCommand(decodeCommand(command), command, call, deps);
  const endpoint = new MessageWriter().bytes(
    1,
    new MessageWriter().bytes(1, encodeTicket(ticket)).finish(),
  );
  const info = new MessageWriter()
    .bytes(1, encapsulated(schemaMessage(fields)))
    .bytes(2, descriptor)
    .bytes(3, endpoint.finish())
    .number(4, UNKNOWN)
    .number(5, UNKNOWN);
  await call.write([info.finish()]);
}

function decodeDescriptor(bytes: Uint8Array): Uint8Array {
  let type = 0;
  let command: Uint8Array = new Uint8Array(0);
  decodeMessage(bytes, {
    1: read.number((value) => {
      type = value;
    }),
    2: read.bytes((value) => {
      command = value;
    }),
  });
  if (type === DESCRIPTOR_CMD) return command;
  throw new GrpcFailure(GRPC.INVALID_ARGUMENT, 'unsupported descriptor type; use CMD');
}

async function planCommand(
  command: Command,
  bytes: Uint8Array,
  call: GrpcCall,
  deps: FlightDeps,
): Promise<{ readonly fields: readonly ArrowField[]; readonly ticket: Ticket }> {
  const ofQuery = async (query: FlightQuery) => ({
    fields: (await describeQuery(query, deps, call.signal)).fields,
    ticket: { kind: 'query', ...query } as const,
  });
  if (command.kind === 'prepared_statement') return await ofQuery(decodeHandle(command.handle));
  const database = databaseOfCall(call);
  if (command.kind === 'statement') {
    const language = languageOfCall(call);
    return await ofQuery({ database, language, text: command.query, params: new Map() });
  }
  return {
    fields: fieldsOfCommand(command),
    ticket: { kind: 'flight_sql', database, command: bytes },
  };
}
