import type { Socket } from 'node:net';
import { isDomainError, type Logger, sendJson } from '@plinth/kernel';
import type { FastifyReply } from 'fastify';

/** Failures before a service is reached, or on a path no service has. */
const STATUS: ReadonlyMap<string, number> = new Map([
  ['not_authenticated', 401],
  ['credential_malformed', 400],
  ['not_allowed', 403],
  ['endpoint_disabled', 405],
  ['request_invalid', 400],
  ['body_too_large', 413],
  ['gzip_corrupt', 400],
]);

/** Never 405, whatever the method. Source: tsdb-http, section 1. */
export function answerNotFound(reply: FastifyReply): FastifyReply {
  return sendJson(reply, 404, { error: 'Not found', data: {} });
}

export function answerError(error: unknown, log: Logger, reply: FastifyReply): FastifyReply {
  const status = statusOf(error);
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="plinth"');
  if (status < 500 && error instanceof Error) {
    return sendJson(reply, status, { error: error.message, data: {} });
  }
  log.error({ err: error }, 'request failed');
  return sendJson(reply, status, { error: 'internal error', data: {} });
}

function statusOf(error: unknown): number {
  if (isDomainError(error)) return STATUS.get(error.kind) ?? 500;
  // The framework's own refusals (bad URL, body too large) carry their status.
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : 500;
  return typeof status === 'number' && status >= 400 ? status : 500;
}

/** What cannot be parsed as HTTP/1.1 has no request to answer to: the bytes are written by hand. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason] = CLIENT_ERRORS.get(error.code ?? '') ?? [400, 'Bad Request'];
  const body = JSON.stringify({ error: reason, data: {} });
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const CLIENT_ERRORS: ReadonlyMap<string, readonly [number, string]> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout']],
]);
