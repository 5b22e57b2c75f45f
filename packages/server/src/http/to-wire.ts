import type { Socket } from 'node:net';
import { isIdentityError, toErrorAnswer } from '@plinth/identity';
import {
  asOutage,
  type HttpAnswer,
  type HttpHead,
  jsonAnswer,
  type Logger,
  pathOf,
} from '@plinth/kernel';

/** So long a client that was refused may go on sending before its connection is cut: it reads the answer then. */
const LAST_WORDS_MS = 2000;

/** Never 405, whatever the method. Source: tsdb-http, section 1. */
export const answerNotFound = (): HttpAnswer => jsonAnswer(404, { error: 'Not found', data: {} });

/** Failures before a service is reached, or on a path that no service has. */
export function answerError(error: unknown, log: Logger, { url }: HttpHead): HttpAnswer {
  if (isIdentityError(error)) {
    const { status, headers, body } = toErrorAnswer(error, pathOf(url));
    return jsonAnswer(status, body, Object.entries(headers));
  }
  const outage = asOutage(error);
  if (outage !== undefined) {
    log.debug({ err: error }, 'request refused');
    const retry = [['retry-after', String(outage.retryAfterSec)]] as const;
    return jsonAnswer(503, { error: outage.message, data: {} }, retry);
  }
  log.error({ err: error }, 'request failed');
  return jsonAnswer(500, { error: 'internal error', data: {} });
}

/**
 * What cannot be parsed as HTTP/1.1 has no request to answer to: the bytes are written by hand.
 * @param headers those of every answer, as lines with their ends.
 */
export function answerClientError(
  error: Error & { code?: string },
  socket: Socket,
  headers: string,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // A request that closes its connection is answered, once; what follows it is nobody's (RFC 9112, section 9.6).
  if (error.code === 'HPE_CLOSED_CONNECTION') return;
  const [status, reason, message = reason, own = ''] = CLIENT_ERRORS.get(error.code ?? '') ?? [
    400,
    'Bad Request',
  ];
  endWith(socket, `HTTP/1.1 ${status} ${reason}\r\n${headers}${own}`, message);
}

/** Answers what no parser reads on with; whoever sends on without an end is cut off. */
export function refuseConnection(socket: Socket, code: string, headers: string): void {
  answerClientError(Object.assign(new Error(code), { code }), socket, headers);
  socket.resume(); // Bytes that nobody read would turn the end of the connection into a reset.
  const timer = setTimeout(() => socket.destroy(), LAST_WORDS_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Answers a request in plain text where the port asks for TLS. Whatever it carried has been sent already. */
export function refusePlainText(socket: Socket): void {
  socket.resume(); // An unread request would turn the end of the connection into a reset.
  endWith(socket, 'HTTP/1.1 400 Bad Request\r\n', 'this port speaks TLS: use https://');
}

/** @param head the status line and headers, as lines with their ends. */
function endWith(socket: Socket, head: string, error: string): void {
  const body = JSON.stringify({ error, data: {} });
  socket.end(
    `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Status, its words, what is wrong where these do not say it, and headers of the answer alone. */
type ClientError = readonly [status: number, reason: string, message?: string, headers?: string];

const CLIENT_ERRORS: ReadonlyMap<string, ClientError> = new Map<string, ClientError>([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout']],
  ['ERR_NO_PROXY', [501, 'Not Implemented', 'this server is no proxy: it does not CONNECT']],
  [
    'ERR_HEADS_FULL',
    [
      503,
      'Service Unavailable',
      'too many long URLs at a time: send the query by POST, or again later',
      'Retry-After: 1\r\n',
    ],
  ],
]);
