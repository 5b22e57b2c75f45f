import { type TSchema, Type } from 'typebox';

export type Operation = Readonly<Record<string, unknown>>;

/** A body that is not described further. */
export const OBJECT = { type: 'object' };

export const ok = (schema: object, description = 'OK'): object => ({
  '200': { description, content: json(schema) },
});

/** The limiter in front of the service and an outage may answer in place of any operation. */
export const failures = (...statuses: readonly number[]): object =>
  Object.fromEntries(
    [...statuses, 429, 503].map((status) => [
      String(status),
      {
        description: FAILURES[status],
        ...(status >= 429 && { headers: RETRY_AFTER }),
        content: json(ref('Error')),
      },
    ]),
  );
const RETRY_AFTER = {
  'Retry-After': { description: 'seconds to wait', schema: { type: 'integer', minimum: 1 } },
};
const FAILURES: Readonly<Record<number, string>> = {
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
  429: 'too many requests',
  503: 'the data cannot be read at the moment',
};

export const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
export const json = (schema: object): object => ({ 'application/json': { schema } });

export const FAULT: TSchema = Type.Object({
  path: Type.String(),
  code: Type.String(),
  message: Type.String(),
  type: Type.Optional(Type.String()),
  id: Type.Optional(Type.String()),
});
export const ERROR: TSchema = Type.Object({
  error: Type.String(),
  code: Type.String(),
  param: Type.Optional(Type.String()),
  position: Type.Optional(Type.Integer()),
  details: Type.Optional(Type.Array(FAULT)),
});
