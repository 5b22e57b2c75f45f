import {
  accessOf,
  asOutage,
  isDomainError,
  JsonUnreadable,
  type Logger,
  type ServiceFront,
  StoreOutage,
  sendPlatformFailure,
  ValidationFailed,
} from '@plinth/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccessGate } from '../domain/access-gate.js';
import { AppNotFound, CredentialNotFound, IdentityExists, IdentityNotFound } from '../errors.js';

const NO_SNIFFING = 'x-content-type-options';
/** What this front puts on every answer, as lines with their ends. */
export const OPERATOR_HEADER_LINES = `${NO_SNIFFING}: nosniff\r\n`;

/**
 * Everything below `/ops/v1`, whichever service has the route: admin tokens only, errors in the dialect of the
 * platform's own API. Source: webhooks, sections 1 and 2.2.
 */
export function operatorFront(gate: AccessGate, log: Logger): ServiceFront {
  return {
    paths: ['/ops/v1'],
    authenticate: (request) => gate.check(request.raw, accessOf(request)),
    answerError: (error, request, reply) => answerOperatorError(error, log, request, reply),
    answerNotFound: (request, reply) => fail(request, reply, 404, 'Not Found'),
    setHeaders(_request, reply) {
      reply.header(NO_SNIFFING, 'nosniff');
    },
    answerPreflight: (_request, reply) => reply.code(204).send(),
  };
}

export function answerOperatorError(
  error: unknown,
  log: Logger,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (error instanceof ValidationFailed) {
    const { message, errors } = error;
    return sendPlatformFailure(reply, {
      status: 422,
      message,
      errors,
      documentationUrl: documentationOf(request),
    });
  }
  if (error instanceof JsonUnreadable) return fail(request, reply, 400, error.message);
  if (error instanceof IdentityNotFound || error instanceof CredentialNotFound) {
    return fail(request, reply, 404, 'Not Found');
  }
  if (error instanceof IdentityExists) {
    return sendPlatformFailure(reply, {
      status: 422,
      message: 'Validation Failed',
      errors: [{ resource: 'Identity', field: 'id', code: 'already_exists' }],
      documentationUrl: documentationOf(request),
    });
  }
  if (error instanceof AppNotFound) return fail(request, reply, 404, error.message);
  if (isDomainError(error)) {
    if (error.kind === 'not_authenticated') {
      return fail(request, reply, 401, 'Requires authentication');
    }
    if (error.kind === 'credential_malformed') return fail(request, reply, 401, 'Bad credentials');
    if (error.kind === 'page_refused') return fail(request, reply, 403, error.message);
  }
  const status: unknown = Reflect.get(Object(error), 'statusCode');
  if (status === 413) return fail(request, reply, 413, 'Request body too large');
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return fail(request, reply, status, 'Bad Request');
  }
  const outage = asOutage(error);
  if (outage === undefined) {
    log.error({ err: error }, 'request failed');
    return fail(request, reply, 500, 'Server Error');
  }
  log.debug({ err: error }, 'request refused');
  reply.header('retry-after', String(outage.retryAfterSec));
  const message = outage instanceof StoreOutage ? 'Service unavailable' : outage.message;
  return fail(request, reply, 503, message);
}

function fail(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  message: string,
): FastifyReply {
  const documentationUrl = documentationOf(request);
  return sendPlatformFailure(reply, { status, message, documentationUrl });
}

const documentationOf = (request: FastifyRequest): string =>
  `${request.protocol}://${request.host}/docs/operator`;
