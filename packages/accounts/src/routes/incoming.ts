/** What the service looks at of a request, whoever has read it: the framework, or the server's plain side. */
export interface Incoming {
  readonly method: string;
  /** Path and query, as in the request line. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly ip: string;
  /** Bytes, once they are read. */
  readonly body?: unknown;
}

/** Takes headers of an answer; one that comes again replaces the first. */
export interface HeaderSink {
  header(name: string, value: string): unknown;
}

/** A header that was sent twice counts as its first value. */
export function headerOf({ headers }: Pick<Incoming, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
