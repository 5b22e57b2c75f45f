import type { Socket } from 'node:net';
import type { ClientAddress } from '../net/client-address.js';
import type { Principal } from './access/principal.js';

/** By names in lower case, as Node joins those that came more than once. Without a prototype, or with names checked by `Object.hasOwn`. */
export type HttpHeaders = Readonly<Record<string, string | undefined>>;

/** What is known of a request before its route is. The same object from the transport to the last log line. */
export interface HttpHead {
  readonly method: string;
  /** Path and query in their normal form (`normalTarget`). */
  readonly url: string;
  /** Address of this server as it was asked: scheme and host. */
  readonly base: string;
  /** The same as a trusted proxy was asked, where one says so. */
  readonly publicBase: string;
  readonly headers: HttpHeaders;
  /** As they came, names in lower case. */
  headerList(): readonly (readonly [name: string, value: string])[];
  /** Where it comes from: the other end of its connection, or who a trusted proxy says there is behind it. */
  readonly client: ClientAddress;
  /** Its connection, which may be a proxy's: for who counts or cuts connections. */
  readonly socket: Socket;
  readonly httpVersion: 1 | 2;
  /**
   * Aborted when the client leaves before it has the whole answer. Who has not asked for it is not disturbed: a client that
   * only ends its own side then still gets its answer.
   */
  leaving(): AbortSignal;
}

/** A request as its handler gets it: recognised, let in, and with its body read as the route says. */
export interface HttpRequest<Who extends Principal = Principal> extends HttpHead {
  /** Who asks. */
  readonly principal: Who;
  /** Parts of the path by name, decoded. */
  readonly parameters: Readonly<Record<string, string | undefined>>;
  /** Decoded, unless the route takes it as it was sent. Not needed any more when the answer is there. Empty where there is none. */
  readonly body: Uint8Array;
}

/** The path of a target, without its query. */
export function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? url : url.slice(0, mark);
}

/** The query of a target; empty where there is none. */
export function queryOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? '' : url.slice(mark + 1);
}
