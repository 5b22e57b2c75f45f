import { type TProperties, type TSchema, Type } from 'typebox';
import { OpenApi } from './open-api.js';
import type { Route, RouteAbout, RouteInput } from './route.js';

export type RouteDescription = Pick<Route, 'about' | 'input' | 'output' | 'errors'>;

/** The short form for a route whose input is validated elsewhere. */
export interface RouteDocs extends RouteAbout, Pick<RouteInput, 'isBodyOptional'> {
  readonly parameters?: TProperties;
  readonly query?: TProperties;
  readonly headers?: TProperties;
  readonly body?: TSchema;
  /** `200: done` by default. */
  readonly output?: Route['output'];
  readonly errors?: Route['errors'];
}

/** @param validation where the input is validated. */
export function described(
  { parameters, query, headers, body, isBodyOptional, output, errors, ...about }: RouteDocs,
  validation: string,
): RouteDescription {
  const hasInput = [parameters, query, headers, body].some((part) => part !== undefined);
  return {
    about,
    ...(hasInput && {
      input: {
        ...(parameters && { parameters: Type.Object(parameters) }),
        ...(query && { query: Type.Object(query) }),
        ...(headers && { headers: Type.Object(headers) }),
        ...(body && { body }),
        ...(isBodyOptional && { isBodyOptional }),
        validation,
      },
    }),
    output: output ?? { 200: OpenApi.response('done') },
    ...(errors && { errors }),
  };
}
