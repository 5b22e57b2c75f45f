import {
  type DialectRefusals,
  described,
  OpenApi,
  type RouteDescription,
  type RouteDocs,
  type RouteOutput,
} from '@plinth/kernel';
import { type TProperties, type TSchema, Type } from 'typebox';
import { MAX_OFFSET } from '../../domain/query/parameters.js';

/** A body that is not described further. */
export const OBJECT: TSchema = { type: 'object' };

export const ok = (schema: object, description = 'OK'): Readonly<Record<number, RouteOutput>> => ({
  200: OpenApi.answer(description, OpenApi.json(schema)),
});

const FAILURES = {
  400: 'a parameter or the body cannot be used',
  401: 'no valid token',
  403: 'the token lacks the scope',
  404: 'there is no such record',
  409: 'not possible in the present state',
  410: 'the version is no longer kept',
  412: 'the record was changed since it was read',
  413: 'the body is too large',
  415: 'the body is not JSON',
  428: 'the change has to say which state it is about (If-Match)',
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

/** The limiter in front of the service and an outage may answer in place of any operation. */
export const REFUSALS: DialectRefusals = {
  name: 'Error',
  schema: Type.Object({
    error: Type.String(),
    code: Type.String(),
    param: Type.Optional(Type.String()),
    position: Type.Optional(Type.Integer()),
    details: Type.Optional(Type.Array(FAULT)),
  }),
  shared: { 429: 'too many requests', 503: 'the data cannot be read at the moment' },
};

/** Why nothing is checked by its schema. */
const JUDGED =
  'queries have a language of their own, and drafts are judged by the rules of records';

/** A route of `tag`. */
export const docsOf = (
  tag: string,
  docs: RouteDocs & { readonly errors: Readonly<Record<number, string>> },
): RouteDescription => described({ output: ok(OBJECT), ...docs, tags: [tag] }, JUDGED);

/** A page for people, or a part of one. */
export const pageWords = (summary: string, type = 'text/html'): RouteDescription => ({
  about: { summary, tags: ['pages'] },
  output: { 200: OpenApi.answer('OK', { [type]: { schema: Type.String() } }) },
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

/** What every read takes. */
export const COMMON: TProperties = {
  lang: text('language code of the data set, or `all`'),
  version: integer(1, MAX_OFFSET, 'a published version; the newest unless said'),
  strict: flag('`true`: unknown parameters are refused'),
};
