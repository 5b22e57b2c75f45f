import { constants, type ServerHttp2Stream } from 'node:http2';
import { asOutage, type Principal, type ServiceFront } from '@plinth/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';

export const FLIGHT_PATH = '/arrow.flight.protocol.FlightService';

const UNAUTHENTICATED = 16;
const UNIMPLEMENTED = 12;
const INTERNAL = 13;
const UNAVAILABLE = 14;

/**
 * What is refused before it is routed, in the words of gRPC: a status in the headers of an answer without a body.
 * Source: gRPC over HTTP/2, "Trailers-Only".
 */
export function flightFront(authenticate: (request: FastifyRequest) => Principal): ServiceFront {
  return {
    paths: [FLIGHT_PATH],
    authenticate: (request) => {
      padBasic(request.headers);
      return authenticate(request);
    },
    // Whatever is wrong with a credential, nobody has been recognised. Source: tsdb-http, §20.
    answerError: (error, _request, reply) => {
      const outage = asOutage(error);
      if (outage !== undefined) return answerStatus(reply, UNAVAILABLE, outage.message);
      return error instanceof Error && 'kind' in error
        ? answerStatus(reply, UNAUTHENTICATED, error.message)
        : answerStatus(reply, INTERNAL, 'internal error');
    },
    answerNotFound: (_request, reply) =>
      answerStatus(reply, UNIMPLEMENTED, 'there is no such method'),
  };
}

/** The Flight client of Go, and the drivers that are made of it, leave out the padding of user and password. */
function padBasic(headers: FastifyRequest['headers']): void {
  const { authorization } = headers;
  if (authorization === undefined || !/^Basic [\w+/]+$/.test(authorization)) return;
  const { length } = authorization.slice('Basic '.length);
  headers.authorization = authorization.padEnd(
    authorization.length + ((4 - (length % 4)) % 4),
    '=',
  );
}

function answerStatus(reply: FastifyReply, code: number, message: string): FastifyReply {
  reply.hijack();
  const { raw } = reply;
  const headers = {
    ...reply.getHeaders(),
    'content-type': 'application/grpc',
    'grpc-status': String(code),
    'grpc-message': message,
  };
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) raw.setHeader(name, value);
  // Nobody will read the body: a stream stays open until its end has come, or until it is told that there is no need.
  reply.request.raw.resume();
  // Headers and the end of the stream in one frame: anything else would not count as a status.
  raw.end(() => {
    const stream: unknown = Reflect.get(raw, 'stream');
    if (isHttp2Stream(stream)) stream.close(constants.NGHTTP2_NO_ERROR);
  });
  return reply;
}

const isHttp2Stream = (stream: unknown): stream is ServerHttp2Stream =>
  typeof Reflect.get(Object(stream), 'respond') === 'function';
