import {
  asOutage,
  type Dialect,
  type HttpAnswer,
  type HttpHead,
  JsonUnreadable,
  jsonAnswer,
  jsonOf,
  type Logger,
  type RouteTable,
} from '@plinth/kernel';
import type { EnvoyDesk } from '../domain/envoy-desk.js';
import { QuestionInvalid } from '../errors.js';
import type { AnswerContext } from './answer.js';
import { MAX_BODY_BYTES } from './check-route.js';
import { CODE, readEnvoyRequest, toEnvoyResponse } from './envoy-wire.js';
import { statusOf } from './to-wire.js';

export interface EnvoyJsonNeeds {
  readonly desk: EnvoyDesk;
  readonly log: Logger;
  /** Whose clients ask: those with the server's own token. */
  readonly dialect: Dialect;
  contextOf(request: HttpHead): AnswerContext;
}

/** The protocol's twin over plain HTTP, for tests and proxies without gRPC. Source: rate-limits, section 12.2. */
export function envoyJsonTable({ desk, log, dialect, contextOf }: EnvoyJsonNeeds): RouteTable {
  return {
    dialect,
    answerError(error) {
      const isAsked = error instanceof QuestionInvalid || error instanceof JsonUnreadable;
      const status = isAsked ? 400 : statusOf(error);
      if (status >= 500 && asOutage(error) === undefined)
        log.error({ err: error }, 'request failed');
      const isTold = error instanceof Error && status < 500;
      return jsonAnswer(status < 500 ? status : 500, {
        message: isTold ? error.message : 'internal error',
      });
    },
    routes: [
      {
        method: 'POST',
        path: '/json',
        access: 'admin',
        body: { maxBytes: MAX_BODY_BYTES },
        async handle(request): Promise<HttpAnswer> {
          const answer = await desk.ask(readEnvoyRequest(jsonOf(request.body)));
          const { rawBody, statuses, ...response } = toEnvoyResponse(answer, contextOf(request));
          return jsonAnswer(response.overallCode === CODE.OVER_LIMIT ? 429 : 200, {
            ...response,
            statuses: statuses.map(withDurationText),
            ...(rawBody !== undefined && { rawBody: rawBody.toString('base64') }),
          });
        },
      },
    ],
  };
}

/** Durations of proto3 JSON are text with a unit. */
function withDurationText(status: object): object {
  const seconds: unknown = Reflect.get(status, 'durationUntilReset');
  return seconds === undefined ? status : { ...status, durationUntilReset: `${seconds}s` };
}
