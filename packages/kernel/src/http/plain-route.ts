import type { Principal } from './principal.js';
import type { RouteAccess } from './route-access.js';

export type PlainMethod = 'GET' | 'POST';

/** What a plain route looks at. */
export interface PlainRequest {
  readonly method: PlainMethod;
  /** Path and query, as in the request line. */
  readonly url: string;
  /** Address of this server as its client knows it: scheme and host. */
  readonly base: string;
  /** By names in lower case; each of them came once. Without a prototype. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Address of the client. */
  readonly ip: string;
  readonly contentEncoding: string | undefined;
  /** Not needed any more when the answer is there. Empty where there is none. */
  readonly body: Uint8Array;
  /**
   * Aborted when the client leaves before it has the whole answer. Who has not asked for it is not disturbed: a client that
   * only ends its own side then still gets its answer.
   */
  leaving(): AbortSignal;
}

export interface PlainAnswer {
  readonly status: number;
  /** In lower case, those of the body's type among them; its length is not. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | undefined;
  /**
   * What follows the body, asked for piece by piece as the client takes it, and returned when the client leaves. A failure cuts
   * the connection.
   */
  readonly rest?: AsyncGenerator<Buffer, void, undefined> | undefined;
  /**
   * Told, at most once, of a piece of `rest` or the body before it that the system has taken: its memory may be used again.
   * Nobody tells of small bodies, of pieces of an answer that was cut off, or where it is sent another way.
   */
  readonly taken?: ((piece: Buffer) => void) | undefined;
  /** Of body and rest, where that is known beforehand. */
  readonly sizeBytes?: number | undefined;
  /** The same object is given again and again, so what is made of its headers is worth keeping as long as it is there. */
  readonly recurs?: boolean;
}

/**
 * A route that needs nothing but these: the server may answer short requests to it without its framework, whose cost is most
 * of theirs. It answers every failure itself: it never rejects.
 */
export interface PlainRoute {
  readonly methods: readonly PlainMethod[];
  /** Its last part may be a parameter (`/things/:id`), for paths that no route names in full. */
  readonly path: string;
  /** Who may use it. */
  readonly access: RouteAccess;
  /** Who asks for credentials: the server's own front, that of everything below `/ops/v1`, or that of a service. */
  readonly front: 'server' | 'operator' | PlainFront;
  /** At once where it can: a promise costs a turn of the loop. */
  answer(request: PlainRequest): PlainAnswer | Promise<PlainAnswer>;
}

/** The front of a service, as far as a plain route stands behind it. The service sends all headers itself. */
export interface PlainFront {
  /** By which a gate knows what it covers. */
  readonly service: string;
  /** Headers that requests may have, in lower case, besides those that every plain request may have. */
  readonly headers: ReadonlySet<string>;
  /** Clients send the same headers again and again, so what was read of them is remembered. */
  readonly headsRecur: boolean;
  /**
   * Who asks; `undefined`: nobody who may, or something in the head is wrong. What is refused is worded by the framework's
   * way.
   */
  identify(request: PlainRequest): Principal | undefined;
}
