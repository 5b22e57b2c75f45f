import type { FlightDeps } from '../deps.js';
import type { GrpcCall } from '../grpc/grpc-call.js';
import { GRPC, GrpcFailure } from '../grpc/grpc-status.js';
import { databaseOfCall, languageOfCall } from './call-database.js';
import { getFlightInfo } from './flight-info.js';
import { runQuery } from './run-query.js';
import { type ArrowStream, sendStream } from './send-stream.js';
import { commandResult } from './sql/catalog-results.js';
import { bytesAt, decodeCommand } from './sql/commands.js';
import {
  closeStatement,
  decodeHandle,
  encodeHandle,
  prepareStatement,
} from './sql/prepared-statement.js';
import { decodeTicket, type Ticket } from './ticket.js';
import { decodeMessage, MessageWriter, read } from './wire-messages.js';

type Method = (call: GrpcCall, deps: FlightDeps) => Promise<void>;

/** The supported methods of Arrow Flight. Source: tsdb-http, §20. */
const METHODS: ReadonlyMap<string, Method> = new Map([
  ['Handshake', handshake],
  ['DoGet', doGet],
  ['GetFlightInfo', getFlightInfo],
  ['DoAction', doAction],
  ['DoPut', doPut],
]);

/** Runs one call to completion. Throws `GrpcFailure` or a domain error. */
export async function serveFlight(method: string, call: GrpcCall, deps: FlightDeps): Promise<void> {
  const serve = METHODS.get(method);
  if (serve === undefined) {
    throw new GrpcFailure(
      GRPC.UNIMPLEMENTED,
      `method "${method.slice(0, 100)}" is not implemented`,
    );
  }
  await serve(call, deps);
}

/**
 * Echoes all messages. A client with user and password receives an authorization header for later
 * calls; if the password is a token, the header contains only the token. Source: tsdb-http, §20.3.
 */
async function handshake(call: GrpcCall): Promise<void> {
  const basic = /^Basic ([A-Za-z0-9+/=]+)$/.exec(call.metadata('authorization') ?? '')?.[1];
  const credentials = Buffer.from(basic ?? '', 'base64').toString();
  const password = /:([\x21-\x7e]+)$/.exec(credentials)?.[1];
  if (basic !== undefined && password !== undefined) {
    const token = password.slice(password.lastIndexOf(':') + 1);
    const isToken = token.startsWith('apiv3_');
    call.setMetadata('authorization', isToken ? `Bearer ${token}` : `Basic ${basic}`);
  }
  // Clients expect headers before they send messages, and may send none.
  call.begin();
  for await (const message of call.messages()) await call.write([message]);
}

async function doGet(call: GrpcCall, deps: FlightDeps): Promise<void> {
  const ticket = decodeTicket(bytesAt(await call.message(), 1));
  await sendStream(call, await openStream(ticket, call, deps), deps.clock);
}

async function openStream(ticket: Ticket, call: GrpcCall, deps: FlightDeps): Promise<ArrowStream> {
  if (ticket.kind === 'query') return await runQuery(ticket, deps, call.signal);
  const { database } = ticket;
  const command = decodeCommand(ticket.command);
  switch (command.kind) {
    case 'statement': {
      const language = languageOfCall(call);
      const query = { database, language, text: command.query, params: new Map() };
      return await runQuery(query, deps, call.signal);
    }
    case 'prepared_statement':
      return await runQuery(decodeHandle(command.handle), deps, call.signal);
    default:
      return await commandResult(command, database, deps, call.signal);
  }
}

async function doAction(call: GrpcCall, deps: FlightDeps): Promise<void> {
  let type = '';
  let body: Uint8Array = new Uint8Array(0);
  decodeMessage(await call.message(), {
    1: read.text((value) => {
      type = value;
    }),
    2: read.bytes((value) => {
      body = value;
    }),
  });
  switch (type) {
    case 'CreatePreparedStatement': {
      const at = { database: databaseOfCall(call), language: languageOfCall(call) };
      const result = await prepareStatement(body, at, deps, call.signal);
      await call.write([new MessageWriter().bytes(1, result).finish()]);
      return;
    }
    case 'ClosePreparedStatement':
      closeStatement(body);
      return;
    default:
      throw new GrpcFailure(
        GRPC.UNIMPLEMENTED,
        `action "${type.slice(0, 100)}" is not implemented`,
      );
  }
}

/** Binds parameters. Returns a new statement handle that contains them. */
async function doPut(call: GrpcCall, deps: FlightDeps): Promise<void> {
  const { bindParameters } = await import('./sql/bind-parameters.js');
  const limit = deps.settings.max_request_size_bytes;
  const query = await bindParameters(call.messages(), limit);
  const result = new MessageWriter().bytes(1, encodeHandle(query)).finish();
  await call.write([new MessageWriter().bytes(1, result).finish()]);
}
