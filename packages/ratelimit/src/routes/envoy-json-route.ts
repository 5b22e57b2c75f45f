import { refuseExcessiveJson, routesFor } from '@plinth/kernel';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { EnvoyDesk } from '../domain/envoy-desk.js';
import { QuestionInvalid, StoreUnavailable } from '../errors.js';
import type { AnswerContext } from './answer.js';
import { CODE, readEnvoyRequest, toEnvoyResponse } from './envoy-wire.js';

export interface EnvoyJsonNeeds {
  readonly desk: EnvoyDesk;
  contextOf(request: { readonly protocol: string; readonly host: string }): AnswerContext;
}

/** The protocol's twin over plain HTTP, for tests and proxies without gRPC. Source: rate-limits, section 12.2. */
export function registerEnvoyJsonRoute(app: FastifyInstance, needs: EnvoyJsonNeeds): void {
  routesFor(app, 'admin');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    body.toString(),
  );
  app.setErrorHandler((error, request, reply) => {
    const isAsked = error instanceof QuestionInvalid;
    if (!isAsked && !(error instanceof StoreUnavailable))
      request.log.error({ err: error }, 'request failed');
    return send(reply, isAsked ? 400 : 500, {
      message: isAsked ? error.message : 'internal error',
    });
  });
  app.post<{ Body: string | undefined }>('/json', async (request, reply) => {
    const answer = await needs.desk.ask(readEnvoyRequest(parse(request.body ?? '')));
    const { rawBody, statuses, ...response } = toEnvoyResponse(answer, needs.contextOf(request));
    const status = response.overallCode === CODE.OVER_LIMIT ? 429 : 200;
    return send(reply, status, {
      ...response,
      statuses: statuses.map(withDurationText),
      ...(rawBody !== undefined && { rawBody: rawBody.toString('base64') }),
    });
  });
}

function parse(text: string): unknown {
  try {
    refuseExcessiveJson(Buffer.from(text));
    return JSON.parse(text);
  } catch {
    throw new QuestionInvalid('Problems parsing JSON');
  }
}

/** Durations of proto3 JSON are text with a unit. */
function withDurationText(status: object): object {
  const seconds: unknown = Reflect.get(status, 'durationUntilReset');
  return seconds === undefined ? status : { ...status, durationUntilReset: `${seconds}s` };
}

function send(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json')
    .send(Buffer.from(JSON.stringify(body)));
}
