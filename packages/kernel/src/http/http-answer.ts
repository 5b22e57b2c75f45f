import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

/** Names in lower case; none of them twice. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

export interface HttpAnswer {
  readonly status: number;
  /** Those of the body's type among them; its length is not, nor what the dialect puts on every answer. */
  readonly headers: HeaderList;
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
  readonly isCacheable?: boolean;
  /** Instead of all that: a protocol of its own on the request's stream of HTTP/2. Resolves when it has ended. */
  readonly takeOver?: (request: Http2ServerRequest, response: Http2ServerResponse) => Promise<void>;
}

const NO_HEADERS: HeaderList = [];
const EMPTY = Buffer.alloc(0);

/** JSON as exactly `application/json`. */
export function jsonAnswer(
  status: number,
  body: unknown,
  headers: HeaderList = NO_HEADERS,
): HttpAnswer {
  return bytesAnswer(status, 'application/json', Buffer.from(JSON.stringify(body)), headers);
}

export function textAnswer(
  status: number,
  text: string,
  headers: HeaderList = NO_HEADERS,
): HttpAnswer {
  return bytesAnswer(status, 'text/plain; charset=utf-8', Buffer.from(text), headers);
}

export const bytesAnswer = (
  status: number,
  type: string,
  body: Buffer,
  headers: HeaderList = NO_HEADERS,
): HttpAnswer => ({ status, headers: [...headers, ['content-type', type]], body });

export const emptyAnswer = (status: number, headers: HeaderList = NO_HEADERS): HttpAnswer => ({
  status,
  headers,
  body: undefined,
});

/** With these in front of its own. */
export const withHeaders = (answer: HttpAnswer, headers: HeaderList): HttpAnswer => ({
  ...answer,
  headers: [...headers, ...answer.headers],
});

/**
 * An answer whose body comes piece by piece. Its first piece is made before the status is told, so that a failure until then has
 * one of its own, and so that `pieces` has begun when it is left.
 */
export async function piecesAnswer(
  status: number,
  headers: HeaderList,
  pieces: AsyncGenerator<Buffer, void, undefined>,
): Promise<HttpAnswer> {
  const { value: body, done } = await pieces.next();
  return done === true ? { status, headers, body: EMPTY } : { status, headers, body, rest: pieces };
}
