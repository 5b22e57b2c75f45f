/** The head of a request that leaves no question. */
export interface PlainHead {
  readonly path: string;
  /** Path and query. */
  readonly url: string;
  readonly host: string;
  /** By names in lower case, without a prototype. */
  readonly headers: Readonly<Record<string, string>>;
  readonly contentEncoding: string | undefined;
  readonly contentLength: number;
}

/** Characters of a target that need no second look: those of RFC 3986 without a fragment. */
const REQUEST_LINE = /^POST ((\/[\w\-.~/]*)(?:\?[\w\-.~!$&'()*+,;=:@/?%]*)?) HTTP\/1\.1$/;
const HEADER_LINE = /^([A-Za-z-]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)[ \t]*$/;

/** Headers that say nothing about how to answer, or what is read below. */
const KNOWN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'user-agent',
]);

/**
 * Reads a head (without the empty line at its end) of which every server would make the same; `undefined` for all others,
 * those that are wrong among them: they are for the HTTP server.
 * @param alsoKnown names of headers that mean something to who answers this path; `undefined`: nobody does.
 */
export function readPlainHead(
  text: string,
  alsoKnown: (path: string) => ReadonlySet<string> | undefined,
): PlainHead | undefined {
  const [requestLine = '', ...lines] = text.split('\r\n');
  const [, url, path] = REQUEST_LINE.exec(requestLine) ?? [];
  const more = path === undefined ? undefined : alsoKnown(path);
  const headers = more && readHeaders(lines, more);
  if (url === undefined || path === undefined || headers === undefined) return undefined;
  const length = headers['content-length'];
  const { host } = headers;
  if (host === undefined || length === undefined || !/^[1-9]\d{0,8}$/.test(length)) {
    return undefined;
  }
  if ((headers['connection'] ?? 'keep-alive').toLowerCase() !== 'keep-alive') return undefined;
  return {
    path,
    url,
    host,
    headers,
    contentEncoding: headers['content-encoding'],
    contentLength: Number(length),
  };
}

function readHeaders(
  lines: readonly string[],
  alsoKnown: ReadonlySet<string>,
): PlainHead['headers'] | undefined {
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const [, written, value] = HEADER_LINE.exec(line) ?? [];
    const name = written?.toLowerCase();
    if (name === undefined || value === undefined) return undefined;
    if (!KNOWN_HEADERS.has(name) && !alsoKnown.has(name)) return undefined;
    if (name in headers) return undefined;
    headers[name] = value;
  }
  return headers;
}
