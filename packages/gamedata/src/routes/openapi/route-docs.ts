import {
  type ApiRefusals,
  described,
  OpenApi,
  type RouteDescription,
  type RouteDocs,
  type RouteOutput,
} from '@plinth/kernel';
import { type TProperties, type TSchema, Type } from 'typebox';
import { MAX_OFFSET } from '../../domain/query/parameters.js';

/** A body without a detailed schema. */
export const OBJECT: TSchema = { type: 'object' };

export const ok = (schema: object, description = 'OK'): Readonly<Record<number, RouteOutput>> => ({
  200: OpenApi.response(description, OpenApi.json(schema)),
});

const FAILURES = {
  400: 'invalid parameter or body',
  401: 'missing or invalid token',
  403: 'the token lacks the scope',
  404: 'record not found',
  409: 'conflict with the current state',
  410: 'the version was removed',
  412: 'the record has changed since it was read',
  413: 'the body is too large',
  415: 'the body is not JSON',
  428: 'missing If-Match header',
} as const;

export const failures = (
  ...statuses: readonly (keyof typeof FAILURES)[]
): Readonly<Record<number, string>> =>
  Object.fromEntries(statuses.map((status) => [status, FAILURES[status]]));

export const FAULT = Type.Object({
  path: Type.String(),
  code: Type.String(),
  message: Type.String(),
  type: Type.Optional(Type.String()),
  id: Type.Optional(Type.String()),
});

/** Any operation may return refusals of the rate limiter and errors during an outage. */
export const REFUSALS: ApiRefusals = {
  name: 'Error',
  schema: Type.Object({
    error: Type.String(),
    code: Type.String(),
    param: Type.Optional(Type.String()),
    position: Type.Optional(Type.Integer()),
    details: Type.Optional(Type.Array(FAULT)),
  }),
  shared: { 429: 'too many requests', 503: 'the data is temporarily unavailable' },
};

/** Reason why these routes are not validated by their schema. */
const JUDGED = 'queries have their own language, and drafts are validated by the rules of records';

export const docsOf = (
  tag: string,
  docs: RouteDocs & { readonly errors: Readonly<Record<number, string>> },
): RouteDescription => described({ output: ok(OBJECT), ...docs, tags: [tag] }, JUDGED);

/** Describes an HTML page. */
export const pageDocs = (summary: string): RouteDescription => ({
  about: { summary, tags: ['pages'] },
  output: { 200: OpenApi.response('OK', { 'text/html': { schema: Type.String() } }) },
});

export const text = (description: string, options: object = {}): TSchema =>
  Type.Optional(Type.String({ ...options, description }));
export const flag = (description: string): TSchema => Type.Optional(Type.Boolean({ description }));
export const integer = (
  minimum: number,
  maximum: number,
  description: string,
  options: object = {},
): TSchema => Type.Optional(Type.Integer({ minimum, maximum, ...options, description }));

/** Query parameters of all reads. */
export const COMMON: TProperties = {
  lang: text('language code of the data set, or `all`'),
  version: integer(1, MAX_OFFSET, 'a published version; default: the newest'),
  strict: flag('`true`: reject unknown parameters'),
};
