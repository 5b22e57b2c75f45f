import { isIP } from 'node:net';
import { identityError } from '../errors.js';

/** Headers in which browsers describe the page that sends a request. */
export interface VisitHeaders {
  readonly host?: string | undefined;
  /** Host header of HTTP/2. */
  readonly ':authority'?: string | undefined;
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | readonly string[] | undefined;
}

export interface PageGuardSettings {
  /** Bind address of the server, with or without port. */
  readonly bind: string;
  /** Public scheme and host of the server. */
  readonly publicUrl?: string | undefined;
  /** Further names of the server; `.example.com` matches all subdomains. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins that may send requests. */
  readonly origins?: readonly string[] | undefined;
}

const UNSPECIFIED: ReadonlySet<string> = new Set(['0.0.0.0', '::', '::ffff:0.0.0.0']);
const MAX_SHOWN_LENGTH = 100;

/**
 * Protects routes on which requests without a credential have admin rights. Otherwise any web page
 * open in a local browser could use them, by a cross-origin request or by DNS rebinding. Programs
 * other than browsers send no origin.
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
  refuseForeignPages(request: {
    readonly headers: VisitHeaders;
    readonly socket?: { readonly localAddress?: string | undefined } | undefined;
  }): void {
    const { headers } = request;
    const host = headers[':authority'] ?? headers.host;
    if (host !== undefined && !this.#isOwn(hostNameOf(host), request.socket?.localAddress)) {
      throw identityError(
        'page_refused',
        `the host ${shown(host)} is not allowed; set server.public_url to the URL that clients use, or add the host to server.allowed_hosts`,
      );
    }
    const { origin } = headers;
    if (origin === undefined) {
      // Another port of this machine counts as the same site, but its page is still foreign.
      const site = headers['sec-fetch-site'];
      if (site !== 'cross-site' && site !== 'same-site') return;
      throw identityError(
        'page_refused',
        'pages from other sites cannot send requests without credentials',
      );
    }
    if (this.#origins.has(origin) || (host !== undefined && hostOf(origin) === host)) return;
    throw identityError(
      'page_refused',
      `pages from ${shown(origin)} cannot send requests without credentials; add the origin to server.cors_origins`,
    );
  }

  #isOwn(name: string, localAddress: string | undefined): boolean {
    if (this.#names.has(name) || name === this.#boundTo) return true;
    if (isIP(name) !== 0) {
      // DNS rebinding needs a name, so an IP address is safe. On an unspecified bind address, any
      // address may be local.
      const isLoopback = name === '::1' || name.startsWith('127.');
      return isLoopback || UNSPECIFIED.has(this.#boundTo) || name === localAddress;
    }
    return this.#suffixes.some((suffix) => name.endsWith(suffix));
  }
}

/** Returns the host name of a `Host` header in lower case, without port, brackets and trailing dot. */
export function hostNameOf(host: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d*)?$/.exec(host)?.[1];
  const bare = bracketed ?? (isIP(host) === 6 ? host : host.replace(/:\d*$/, ''));
  return bare.toLowerCase().replace(/\.$/, '');
}

/** Returns the host and port of an origin; `undefined` for `null` and invalid origins. */
const hostOf = (origin: string): string | undefined =>
  /^https?:\/\/([^/]+)$/.exec(origin)?.[1]?.toLowerCase();

const shown = (text: string): string =>
  text.slice(0, MAX_SHOWN_LENGTH).replaceAll(/[^\x21-\x7e]/g, '?');
