import { type TSchema, Type } from 'typebox';

/** A parameter of the query string. */
export interface QueryParameter {
  readonly name: string;
  readonly in: 'query';
  readonly required: boolean;
  readonly schema: TSchema;
}

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
  json: (schema: unknown) => ({ 'application/json': { schema } }),
  text: { 'text/plain': { schema: Type.String() } },
  ref: (name: string) => ({ $ref: `#/components/schemas/${name}` }),
  answer: (description: string, content?: object) => ({
    description,
    ...(content && { content }),
  }),
} as const;
