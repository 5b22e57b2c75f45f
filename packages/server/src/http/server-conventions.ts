import {
  type ApiConventions,
  type Cors,
  emptyResponse,
  type HeaderList,
  type Logger,
  pathOf,
} from '@plinth/kernel';
import { Type } from 'typebox';
import { errorResponse, notFoundResponse } from './to-wire.js';

/** Public until the first token exists, so no other origin may read the responses. */
const FIRST_TOKEN = ['/api/v3/configure/token/admin', '/api/v2/setup'];

/**
 * Creates the API conventions of paths without a service: admin tokens, with the errors and headers of the time-series
 * service.
 */
export function serverConventions(deps: {
  readonly identify: ApiConventions['identify'];
  /** Returns the value of the `cluster-uuid` header. */
  clusterUuid(): string;
  readonly cors: Cors;
  readonly log: Logger;
}): ApiConventions & { headersFor(origin: string | undefined): HeaderList } {
  const { identify, cors, log } = deps;
  let known: { readonly cors: HeaderList; readonly all: HeaderList } | undefined;
  const headersFor = (origin: string | undefined): HeaderList => {
    const list = cors.headersFor(origin);
    // The list is usually the same for all requests.
    if (known?.cors !== list) {
      known = { cors: list, all: [['cluster-uuid', deps.clusterUuid()], ...list] };
    }
    return known.all;
  };
  return {
    service: 'tsdb',
    // Listed explicitly, because another service may have all of `/api`.
    paths: ['/api/v1', '/api/v2', '/api/v3'],
    refusals: {
      name: 'Error',
      schema: Type.Object({ error: Type.String(), data: Type.Object({}) }),
      shared: {},
    },
    identify,
    errorResponse: (error, request) => errorResponse(error, log, request),
    notFoundResponse: notFoundResponse,
    headersFor,
    headers: ({ url, headers: { origin } }) =>
      isFirstToken(url) ? [['cluster-uuid', deps.clusterUuid()]] : headersFor(origin),
    preflightResponse: (request, methods) =>
      emptyResponse(204, isFirstToken(request.url) ? [] : cors.preflightFor(request, methods)),
  };
}

/** Called for every request, so it avoids parsing most URLs. */
const isFirstToken = (url: string): boolean =>
  FIRST_TOKEN.some((path) => url.startsWith(path) && pathOf(url) === path);
