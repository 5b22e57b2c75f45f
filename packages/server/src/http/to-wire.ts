import type { Socket } from 'node:net';
import { isIdentityError, toErrorAnswer } from '@plinth/identity';
import { asOutage, type Logger, sendJson } from '@plinth/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HeadFault } from './head-fault.js';

/** Never 405, whatever the method. Source: tsdb-http, section 1. */
export function answerNotFound(reply: FastifyReply): FastifyReply {
  return sendJson(reply, 404, { error: 'Not found', data: {} });
}

/** In the words of no service, as for what cannot be parsed: who is meant is not known. */
export function answerHeadFault(
  { status, message }: HeadFault,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  // HTTP/2 knows no such header.
  if (request.raw.httpVersionMajor === 1) reply.header('connection', 'close');
  return sendJson(reply, status, { error: message, data: {} });
}

/** Failures before a service is reached, or on a path that no service has. */
export function answerError(
  error: unknown,
  log: Logger,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (isIdentityError(error)) {
    const path = request.url.split('?', 1)[0] ?? '';
    const { status, headers, body } = toErrorAnswer(error, path);
    return sendJson(reply.headers(headers), status, body);
  }
  const status = statusOf(error);
  if (status < 500 && error instanceof Error) {
    return sendJson(reply, status, { error: error.message, data: {} });
  }
  const outage = asOutage(error);
  if (outage !== undefined) {
    log.debug({ err: error }, 'request refused');
    reply.header('retry-after', String(outage.retryAfterSec));
    return sendJson(reply, 503, { error: outage.message, data: {} });
  }
  log.error({ err: error }, 'request failed');
  return sendJson(reply, status, { error: 'internal error', data: {} });
}

/** The framework's own refusals (bad URL, body too large) carry their status. */
function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : 500;
  return typeof status === 'number' && status >= 400 ? status : 500;
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
  const [status, reason] = CLIENT_ERRORS.get(error.code ?? '') ?? [400, 'Bad Request'];
  const body = JSON.stringify({ error: reason, data: {} });
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\n${headers}Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Answers a request in plain text where the port asks for TLS. Whatever it carried has been sent already. */
export function refusePlainText(socket: Socket): void {
  const body = JSON.stringify({ error: 'this port speaks TLS: use https://', data: {} });
  socket.resume(); // An unread request would turn the end of the connection into a reset.
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const CLIENT_ERRORS: ReadonlyMap<string, readonly [number, string]> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout']],
]);
