/** What a plain route looks at. */
export interface PlainRequest {
  /** Path and query, as in the request line. */
  readonly url: string;
  /** Address of this server as its client knows it: scheme and host. */
  readonly base: string;
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
  /** Who asks for credentials: the server's own front, or that of everything below `/ops/v1`. */
  readonly front: 'server' | 'operator';
  answer(request: PlainRequest): Promise<PlainAnswer>;
}
