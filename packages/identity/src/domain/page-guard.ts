import { isIP } from 'node:net';
import { identityError } from '../errors.js';

/** What browsers say about the page that sends a request. */
export interface VisitHeaders {
  readonly host?: string | undefined;
  /** The host in HTTP/2. */
  readonly ':authority'?: string | undefined;
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | readonly string[] | undefined;
}

export interface PageGuardSettings {
  /** Address that the server listens on, with or without its port. */
  readonly bind: string;
  /** Scheme and host under which clients see the server. */
  readonly publicUrl?: string | undefined;
  /** Further names of the server; `.example.com` names all below. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Pages that may ask. */
  readonly origins?: readonly string[] | undefined;
}

const UNSPECIFIED: ReadonlySet<string> = new Set(['0.0.0.0', '::', '::ffff:0.0.0.0']);
const MAX_SHOWN_LENGTH = 100;

/**
 * Stands where a request needs no credential to do what admins may: there any web page that somebody has open could ask,
 * by its own origin or by a name that it lets mean this server's address. Programs that are no browsers say no origin.
 */
export class PageGuard {
  readonly #boundTo: string;
  readonly #names = new Set<string>(['localhost']);
  readonly #suffixes: string[] = ['.localhost'];
  readonly #origins: ReadonlySet<string>;

  constructor({ bind, publicUrl, allowedHosts = [], origins = [] }: PageGuardSettings) {
    this.#boundTo = hostNameOf(bind);
    this.#origins = new Set([...(publicUrl === undefined ? [] : [publicUrl]), ...origins]);
    if (publicUrl !== undefined) this.#names.add(hostNameOf(new URL(publicUrl).host));
    for (const host of allowedHosts) {
      if (host.startsWith('.')) this.#suffixes.push(host.toLowerCase());
      else this.#names.add(hostNameOf(host));
    }
  }

  /** Throws `page_refused`. */
  refuseStrangers(request: {
    readonly headers: VisitHeaders;
    readonly socket?: { readonly localAddress?: string | undefined } | undefined;
  }): void {
    const { headers } = request;
    const host = headers[':authority'] ?? headers.host;
    if (host !== undefined && !this.#isOwn(hostNameOf(host), request.socket?.localAddress)) {
      throw identityError(
        'page_refused',
        `the host ${shown(host)} is none of this server's names: add it to server.allowed_hosts`,
      );
    }
    const { origin } = headers;
    if (origin === undefined) {
      // Another port of this machine is the same site, and another's page all the same.
      const site = headers['sec-fetch-site'];
      if (site !== 'cross-site' && site !== 'same-site') return;
      throw identityError(
        'page_refused',
        'a page of another site may not ask where no credential is needed',
      );
    }
    if (this.#origins.has(origin) || (host !== undefined && hostOf(origin) === host)) return;
    throw identityError(
      'page_refused',
      `a page of ${shown(origin)} may not ask where no credential is needed: add it to server.cors_origins`,
    );
  }

  #isOwn(name: string, localAddress: string | undefined): boolean {
    if (this.#names.has(name) || name === this.#boundTo) return true;
    if (isIP(name) !== 0) {
      // An address is no name that a page could bend; where all are bound, any may be this machine's to its clients.
      const isLoopback = name === '::1' || name.startsWith('127.');
      return isLoopback || UNSPECIFIED.has(this.#boundTo) || name === localAddress;
    }
    return this.#suffixes.some((suffix) => name.endsWith(suffix));
  }
}

/** Of `Host`: without port, brackets and end dot, in lower case. */
export function hostNameOf(host: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d*)?$/.exec(host)?.[1];
  const bare = bracketed ?? (isIP(host) === 6 ? host : host.replace(/:\d*$/, ''));
  return bare.toLowerCase().replace(/\.$/, '');
}

/** Host and port of an origin; `undefined` for `null` and what is none. */
const hostOf = (origin: string): string | undefined =>
  /^https?:\/\/([^/]+)$/.exec(origin)?.[1]?.toLowerCase();

const shown = (text: string): string =>
  text.slice(0, MAX_SHOWN_LENGTH).replaceAll(/[^\x21-\x7e]/g, '?');
