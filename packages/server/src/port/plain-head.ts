import type { PlainMethod } from '@plinth/kernel';

/** The first line of a request that leaves no question. */
export interface PlainTarget {
  readonly method: PlainMethod;
  readonly path: string;
  /** Path and query. */
  readonly url: string;
}

/** The headers of such a request. */
export interface PlainHeaders {
  /** By names in lower case, without a prototype. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly host: string;
  /** `undefined`: no body is announced. */
  readonly contentLength: number | undefined;
}

/** Characters of a target that need no second look: those of RFC 3986 without a fragment. */
const REQUEST_LINE = /^(GET|POST) ((\/[\w\-.~/]*)(?:\?[\w\-.~!$&'()*+,;=:@/?%]*)?) HTTP\/1\.1$/;
const HEADER_LINE = /^([A-Za-z-]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)[ \t]*$/;
const CONTENT_LENGTH = /^[1-9]\d{0,8}$/;

/** Headers that say nothing about how to answer, or that plain routes look at. */
const KNOWN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'sec-fetch-mode',
  'user-agent',
]);

/** `undefined` for every line of which not every server would make the same: it is for the HTTP server. */
export function readPlainTarget(line: string): PlainTarget | undefined {
  const [, method, url, path] = REQUEST_LINE.exec(line) ?? [];
  if (url === undefined || path === undefined) return undefined;
  return { method: method === 'GET' ? 'GET' : 'POST', url, path };
}

/**
 * Reads header lines (without the empty line behind them) of which every server would make the same; `undefined` for all
 * others, those that are wrong among them: they are for the HTTP server.
 * @param alsoKnown names of headers that mean something to who answers.
 */
export function readPlainHeaders(
  text: string,
  alsoKnown: ReadonlySet<string>,
): PlainHeaders | undefined {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const line of text.split('\r\n')) {
    const [, written, value] = HEADER_LINE.exec(line) ?? [];
    const name = written?.toLowerCase();
    if (name === undefined || value === undefined) return undefined;
    if (!KNOWN_HEADERS.has(name) && !alsoKnown.has(name)) return undefined;
    if (name in headers) return undefined;
    headers[name] = value;
  }
  const { host, connection = 'keep-alive', 'content-length': length } = headers;
  if (host === undefined || connection.toLowerCase() !== 'keep-alive') return undefined;
  if (length !== undefined && !CONTENT_LENGTH.test(length)) return undefined;
  return { headers, host, contentLength: length === undefined ? undefined : Number(length) };
}
