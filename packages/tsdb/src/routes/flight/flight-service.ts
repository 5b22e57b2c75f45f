import type { RouteDeps } from '../deps.js';
import type { GrpcCall } from '../grpc/grpc-call.js';
import { GRPC, GrpcFailure } from '../grpc/grpc-status.js';
import { runQuery } from './run-query.js';
import { sendStream } from './send-stream.js';
import { decodeTicket } from './ticket.js';
import { decodeTicketMessage } from './wire-messages.js';

type Method = (call: GrpcCall, deps: RouteDeps) => Promise<void>;

/** The methods of Arrow Flight that there are. Source: tsdb-http, §20. */
const METHODS: ReadonlyMap<string, Method> = new Map([['DoGet', doGet]]);

/** Runs one call to its end. */
export async function serveFlight(method: string, call: GrpcCall, deps: RouteDeps): Promise<void> {
  const serve = METHODS.get(method);
  if (serve === undefined) {
    throw new GrpcFailure(GRPC.UNIMPLEMENTED, `${method.slice(0, 100)} is not implemented`);
  }
  await serve(call, deps);
}

async function doGet(call: GrpcCall, deps: RouteDeps): Promise<void> {
  const ticket = decodeTicket(decodeTicketMessage(await call.message()));
  if (ticket.kind === 'flight_sql') throw new GrpcFailure(GRPC.UNIMPLEMENTED, 'Flight SQL');
  await sendStream(call, await runQuery(ticket, deps, call.signal), deps.clock);
}
