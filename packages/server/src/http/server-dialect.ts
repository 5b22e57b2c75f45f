import {
  type Cors,
  type Dialect,
  emptyAnswer,
  type HeaderList,
  type Logger,
  pathOf,
} from '@plinth/kernel';
import { Type } from 'typebox';
import { answerError, answerNotFound } from './to-wire.js';

/** Needs no credential as long as there is no token: no page may read what it answers. */
const FIRST_TOKEN = '/api/v3/configure/token/admin';

/** Of what no service has a dialect for: admin tokens, the words of the time-series service and its headers. */
export function serverDialect(parts: {
  readonly identify: Dialect['identify'];
  /** Value of the `cluster-uuid` header. */
  clusterUuid(): string;
  readonly cors: Cors;
  readonly log: Logger;
}): Dialect & { headersFor(origin: string | undefined): HeaderList } {
  const { identify, cors, log } = parts;
  let known: { readonly cors: HeaderList; readonly all: HeaderList } | undefined;
  const headersFor = (origin: string | undefined): HeaderList => {
    const list = cors.headersFor(origin);
    // The same for all pages, as a rule.
    if (known?.cors !== list) {
      known = { cors: list, all: [['cluster-uuid', parts.clusterUuid()], ...list] };
    }
    return known.all;
  };
  return {
    service: 'tsdb',
    // Named, because another service may speak for all of `/api`.
    paths: ['/api/v1', '/api/v2', '/api/v3'],
    refusals: {
      name: 'Error',
      schema: Type.Object({ error: Type.String(), data: Type.Object({}) }),
      shared: {},
    },
    identify,
    answerError: (error, request) => answerError(error, log, request),
    answerNotFound,
    headersFor,
    headers: ({ url, headers: { origin } }) =>
      isFirstToken(url) ? [['cluster-uuid', parts.clusterUuid()]] : headersFor(origin),
    answerPreflight: (request, methods) =>
      emptyAnswer(204, isFirstToken(request.url) ? [] : cors.preflightFor(request, methods)),
  };
}

/** Every request comes by here: the path of few of them is cut out. */
const isFirstToken = (url: string): boolean =>
  url.startsWith(FIRST_TOKEN) && pathOf(url) === FIRST_TOKEN;
