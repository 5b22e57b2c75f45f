/** What a plain route looks at. */
export interface PlainRequest {
  readonly method: 'POST';
  /** Path and query, as in the request line. */
  readonly url: string;
  /** Address of this server as its client knows it: scheme and host. */
  readonly base: string;
  /** By names in lower case; each of them came once. Without a prototype. */
  readonly headers: Readonly<Record<string, string>>;
  /** Address of the client. */
  readonly ip: string;
  readonly contentEncoding: string | undefined;
  /** Not needed any more when the answer is there. */
  readonly body: Uint8Array;
}

export interface PlainAnswer {
  readonly status: number;
  /** In lower case, those of the body's type among them; its length is not. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | undefined;
}

/**
 * A `POST` route that needs nothing but these: the server may answer short requests to it without its framework, whose
 * cost is most of theirs. It answers every failure itself: it never rejects.
 */
export interface PlainRoute {
  /** Without parameters. */
  readonly path: string;
  /** Who asks for credentials: the server's own front, that of everything below `/ops/v1`, or that of a service. */
  readonly front: 'server' | 'operator' | PlainFront;
  answer(request: PlainRequest): Promise<PlainAnswer>;
}

/** The front of a service, as far as a plain route stands behind it. The service sends all headers itself. */
export interface PlainFront {
  /** By which a gate knows what it covers. */
  readonly service: string;
  /** Headers that requests may have, in lower case, besides those that every plain request may have. */
  readonly headers: ReadonlySet<string>;
  /** Whether who asks may, and nothing in the head is wrong; what is refused is worded by the framework's way. */
  admits(request: PlainRequest): boolean;
}
