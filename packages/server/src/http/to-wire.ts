import type { Socket } from 'node:net';
import { isIdentityError, toErrorResponse } from '@plinth/identity';
import {
  asOutage,
  type HttpHead,
  type HttpResponse,
  jsonResponse,
  type Logger,
  pathOf,
} from '@plinth/kernel';

/** Time for a refused client to finish sending and read the response before its connection is closed. */
const LAST_WORDS_MS = 2000;

/** Never 405, for any method. Source: tsdb-http, section 1. */
export const notFoundResponse = (): HttpResponse =>
  jsonResponse(404, { error: 'Not found', data: {} });

/** Returns the response for errors outside any service. */
export function errorResponse(error: unknown, log: Logger, { url }: HttpHead): HttpResponse {
  if (isIdentityError(error)) {
    const { status, headers, body } = toErrorResponse(error, pathOf(url));
    return jsonResponse(status, body, Object.entries(headers));
  }
  const outage = asOutage(error);
  if (outage !== undefined) {
    log.debug({ err: error }, 'request refused');
    const retry = [['retry-after', String(outage.retryAfterSec)]] as const;
    return jsonResponse(503, { error: outage.message, data: {} }, retry);
  }
  log.error({ err: error }, 'request failed');
  return jsonResponse(500, { error: 'internal error', data: {} });
}

/**
 * Responds to data that is not valid HTTP/1.1. Without a request object, the bytes are written directly.
 * @param headers common headers, as lines with line ends.
 */
export function sendClientError(
  error: Error & { code?: string },
  socket: Socket,
  headers: string,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // After a request with `Connection: close`, further data is ignored (RFC 9112, section 9.6).
  if (error.code === 'HPE_CLOSED_CONNECTION') return;
  const [status, reason, message = reason, own = ''] = CLIENT_ERRORS.get(error.code ?? '') ?? [
    400,
    'Bad Request',
  ];
  endWith(socket, `HTTP/1.1 ${status} ${reason}\r\n${headers}${own}`, message);
}

/** Responds on a connection without a parser, and closes it if the client keeps sending. */
export function refuseConnection(socket: Socket, code: string, headers: string): void {
  sendClientError(Object.assign(new Error(code), { code }), socket, headers);
  socket.resume(); // Unread bytes would turn the close into a reset.
  const timer = setTimeout(() => socket.destroy(), LAST_WORDS_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Responds to a plaintext request on a TLS port. Its credentials have already been exposed. */
export function refusePlainText(socket: Socket): void {
  socket.resume(); // Unread bytes would turn the close into a reset.
  endWith(socket, 'HTTP/1.1 400 Bad Request\r\n', 'this port requires TLS: use https://');
}

/** @param head status line and headers, as lines with line ends. */
function endWith(socket: Socket, head: string, error: string): void {
  const body = JSON.stringify({ error, data: {} });
  socket.end(
    `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Status, reason, an optional more specific message, and additional headers. */
type ClientError = readonly [status: number, reason: string, message?: string, headers?: string];

const CLIENT_ERRORS: ReadonlyMap<string, ClientError> = new Map<string, ClientError>([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout']],
  [
    'ERR_NO_PROXY',
    [501, 'Not Implemented', 'this server is not a proxy; CONNECT is not supported'],
  ],
  [
    'ERR_HEADS_FULL',
    [
      503,
      'Service Unavailable',
      'too many long URLs at the same time; use POST, or retry later',
      'Retry-After: 1\r\n',
    ],
  ],
]);
