import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

/** Lowercase names without duplicates. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

export interface HttpResponse {
  readonly status: number;
  /** Includes the content type, but not the length and the headers that the API conventions add to every response. */
  readonly headers: HeaderList;
  readonly body: Buffer | undefined;
  /**
   * The rest of the body, read piece by piece as the client consumes it, and closed when the client disconnects. A failure
   * closes the connection.
   */
  readonly rest?: AsyncGenerator<Buffer, void, undefined> | undefined;
  /**
   * Called at most once for each piece of `rest` or `body` that the system has written, so that its memory can be reused. Not
   * called for small bodies, for truncated responses, and for other transports.
   */
  readonly onPieceWritten?: ((piece: Buffer) => void) | undefined;
  /** The size of body and rest, if it is known in advance. */
  readonly sizeBytes?: number | undefined;
  /** Whether the same object is returned for many requests, so that the server caches its serialized head. */
  readonly isReused?: boolean;
  /** Replaces the response: another protocol on the HTTP/2 stream of the request. Resolves when it has ended. */
  readonly takeOver?: (request: Http2ServerRequest, response: Http2ServerResponse) => Promise<void>;
}

const NO_HEADERS: HeaderList = [];
const EMPTY = Buffer.alloc(0);

/** Creates a JSON response whose content type is exactly `application/json`. */
export function jsonResponse(
  status: number,
  body: unknown,
  headers: HeaderList = NO_HEADERS,
): HttpResponse {
  return bytesResponse(status, 'application/json', Buffer.from(JSON.stringify(body)), headers);
}

export function textResponse(
  status: number,
  text: string,
  headers: HeaderList = NO_HEADERS,
): HttpResponse {
  return bytesResponse(status, 'text/plain; charset=utf-8', Buffer.from(text), headers);
}

export const bytesResponse = (
  status: number,
  type: string,
  body: Buffer,
  headers: HeaderList = NO_HEADERS,
): HttpResponse => ({ status, headers: [...headers, ['content-type', type]], body });

export const emptyResponse = (status: number, headers: HeaderList = NO_HEADERS): HttpResponse => ({
  status,
  headers,
  body: undefined,
});

/** Returns the response with these headers before its own. */
export const withHeaders = (response: HttpResponse, headers: HeaderList): HttpResponse => ({
  ...response,
  headers: [...headers, ...response.headers],
});

/**
 * Creates a response whose body is generated. The first piece is produced before the status is sent, so that an early
 * failure returns an error status, and so that `pieces` has started when it is returned.
 */
export async function piecesResponse(
  status: number,
  headers: HeaderList,
  pieces: AsyncGenerator<Buffer, void, undefined>,
): Promise<HttpResponse> {
  const { value: body, done } = await pieces.next();
  return done === true ? { status, headers, body: EMPTY } : { status, headers, body, rest: pieces };
}
