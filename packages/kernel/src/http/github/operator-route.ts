import type { Route, RouteInput, RouteMethod } from '../route.js';

const MAX_BODY_BYTES = 1_048_576;

type OperatorRoute<Input extends RouteInput> = Omit<
  Route<Input>,
  'method' | 'path' | 'access' | 'body'
> & {
  /** 1 MB by default. */
  readonly maxBytes?: number;
};

/** Creates a route of the operator API, for admins only. Methods other than GET and DELETE read a body. */
export function operatorRoute<const Input extends RouteInput>(
  method: RouteMethod,
  path: string,
  { maxBytes = MAX_BODY_BYTES, ...route }: OperatorRoute<Input>,
): Route {
  const hasBody = method !== 'GET' && method !== 'DELETE';
  return {
    ...route,
    method,
    path: `/ops/v1${path}`,
    access: 'admin',
    ...(hasBody && { body: { maxBytes } }),
  };
}
