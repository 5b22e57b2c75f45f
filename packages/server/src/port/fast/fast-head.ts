/** The first line of a request that leaves no question. */
export interface FastTarget {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
}

/** The headers of such a request. */
export interface FastHeaders {
  /** By names in lower case, without a prototype. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** `undefined`: no body is announced. */
  readonly contentLength: number | undefined;
}

/** Characters of a target that need no second look: those of RFC 3986 without a fragment. */
const REQUEST_LINE =
  /^(GET|POST|PUT|PATCH|DELETE) (\/[\w\-.~/]*(?:\?[\w\-.~!$&'()*+,;=:@/?%]*)?) HTTP\/1\.1$/;
const HEADER_LINE =
  /^([\w!#$%&'*+\-.^`|~]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)[ \t]*$/;
const CONTENT_LENGTH = /^[1-9]\d{0,8}$/;

/** Headers that say how the rest of the connection is to be read. */
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

/** `undefined` for every line of which not every server would make the same: it is for the HTTP server. */
export function readFastTarget(line: string): FastTarget | undefined {
  const [, method, url] = REQUEST_LINE.exec(line) ?? [];
  return method === undefined || url === undefined ? undefined : { method, url };
}

/**
 * Reads header lines (without the empty line behind them) of which every server would make the same; `undefined` for all
 * others, those that are wrong among them: they are for the HTTP server.
 */
export function readFastHeaders(text: string): FastHeaders | undefined {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const line of text.split('\r\n')) {
    const [, written, value] = HEADER_LINE.exec(line) ?? [];
    const name = written?.toLowerCase();
    if (name === undefined || value === undefined) return undefined;
    // What came twice is joined, dropped or refused, by the name.
    if (name in headers || FOR_THE_SERVER.has(name)) return undefined;
    headers[name] = value;
  }
  const { host, connection = 'keep-alive', 'content-length': length } = headers;
  if (host === undefined || connection.toLowerCase() !== 'keep-alive') return undefined;
  if (length !== undefined && !CONTENT_LENGTH.test(length)) return undefined;
  return { headers, contentLength: length === undefined ? undefined : Number(length) };
}
