/** The request line of an unambiguous request. */
export interface FastTarget {
  readonly method: string;
  /** Path and query string. */
  readonly url: string;
}

/** The headers of an unambiguous request. */
export interface FastHeaders {
  /** Lower-case names; null prototype. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** `undefined` if no body is announced. */
  readonly contentLength: number | undefined;
}

/** Characters of RFC 3986 without a fragment; other targets go to Node's HTTP server. */
const REQUEST_LINE =
  /^(GET|POST|PUT|PATCH|DELETE) (\/[\w\-.~/]*(?:\?[\w\-.~!$&'()*+,;=:@/?%]*)?) HTTP\/1\.1$/;
const HEADER_LINE =
  /^([\w!#$%&'*+\-.^`|~]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)[ \t]*$/;
const CONTENT_LENGTH = /^[1-9]\d{0,8}$/;

/** Headers that affect how the connection is parsed. */
const FOR_THE_SERVER: ReadonlySet<string> = new Set([
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Parses a request line; `undefined` for a line that parsers could interpret differently, which
 * Node's HTTP server handles.
 */
export function readFastTarget(line: string): FastTarget | undefined {
  const [, method, url] = REQUEST_LINE.exec(line) ?? [];
  return method === undefined || url === undefined ? undefined : { method, url };
}

/**
 * Parses header lines (without the final empty line) that every server interprets alike. Returns `undefined` for all others,
 * including invalid ones, which Node's HTTP server handles.
 */
export function readFastHeaders(text: string): FastHeaders | undefined {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const line of text.split('\r\n')) {
    const [, written, value] = HEADER_LINE.exec(line) ?? [];
    const name = written?.toLowerCase();
    if (name === undefined || value === undefined) return undefined;
    // Repeated headers are joined, dropped or refused, depending on the name.
    if (name in headers || FOR_THE_SERVER.has(name)) return undefined;
    headers[name] = value;
  }
  const { host, connection = 'keep-alive', 'content-length': length } = headers;
  if (host === undefined || connection.toLowerCase() !== 'keep-alive') return undefined;
  if (length !== undefined && !CONTENT_LENGTH.test(length)) return undefined;
  return { headers, contentLength: length === undefined ? undefined : Number(length) };
}
