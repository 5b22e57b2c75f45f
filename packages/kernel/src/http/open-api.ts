import { type TSchema, Type } from 'typebox';

/** A parameter of the query string. */
export interface QueryParameter {
  readonly name: string;
  readonly in: 'query';
  readonly required: boolean;
  readonly schema: TSchema;
}

const json = (schema: unknown) => ({ 'application/json': { schema } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const answer = (description: string, content?: object) => ({
  description,
  ...(content && { content }),
});

/** The words in which services describe their paths. Source: OpenAPI 3.1. */
export const OpenApi = {
  parameter: (name: string, schema: TSchema, required = false): QueryParameter => ({
    name,
    in: 'query',
    required,
    schema,
  }),
  oneOf: (names: readonly string[], options: object = {}): TSchema =>
    Type.String({ enum: names, ...options }),
  json,
  text: { 'text/plain': { schema: Type.String() } },
  ref,
  answer,
  /** The refusals that every path with a token shares; the schema `Error` is the caller's. */
  refusals: {
    '400': answer('the request is wrong', json(ref('Error'))),
    '401': answer('no valid token', json(ref('Error'))),
  },
} as const;
