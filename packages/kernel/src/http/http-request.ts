import type { Socket } from 'node:net';
import type { ClientAddress } from '../net/client-address.js';
import type { Principal } from './access/principal.js';

/**
 * Headers by lowercase name, joined as Node does. The object has no prototype, or names are checked with
 * `Object.hasOwn`.
 */
export type HttpHeaders = Readonly<Record<string, string | undefined>>;

/** The request before routing. The same object is used from the transport to the last log line. */
export interface HttpHead {
  readonly method: string;
  /** Path and query in normal form (`normalTarget`). */
  readonly url: string;
  /** Scheme and host of this server in the request. */
  readonly base: string;
  /** Scheme and host of the public address, as reported by a trusted proxy. */
  readonly publicBase: string;
  readonly headers: HttpHeaders;
  /** Returns all headers as received, with lowercase names. */
  headerList(): readonly (readonly [name: string, value: string])[];
  /** The client: the peer of the connection, or the one that a trusted proxy reports. */
  readonly client: ClientAddress;
  /** The connection, possibly from a proxy; used to count and close connections. */
  readonly socket: Socket;
  readonly httpVersion: 1 | 2;
  /**
   * Returns a signal that is aborted when the client disconnects before it has the complete response. Must be
   * called before the disconnection. Otherwise, a client that only half-closes its connection still receives
   * its response.
   */
  disconnectSignal(): AbortSignal;
}

/** A request for its handler: authenticated, admitted, and with its body read. */
export interface HttpRequest<Who extends Principal = Principal> extends HttpHead {
  /** The authenticated identity. */
  readonly principal: Who;
  /** Path parameters by name, decoded. */
  readonly parameters: Readonly<Record<string, string | undefined>>;
  /** Decoded, unless the route takes it as sent. Valid until the response is complete. Empty without a body. */
  readonly body: Uint8Array;
}

/** Returns the path of a target without its query. */
export function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? url : url.slice(0, mark);
}

/** Returns the query of a target; empty without one. */
export function queryOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? '' : url.slice(mark + 1);
}
