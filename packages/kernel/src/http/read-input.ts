import { inputCheck } from '../schema/input-check.js';
import { jsonObjectOf } from './github/github-requests.js';
import { type HttpRequest, queryOf } from './http-request.js';
import type { CheckedInput, Route, RouteInput } from './route.js';

/** Validates the input of a route. Throws `RequestInvalid`. */
export type InputReader = (request: HttpRequest) => CheckedInput<RouteInput>;

/** Compiles the validation of path, query and body. */
export function inputReader({ input, body: rule }: Pick<Route, 'input' | 'body'>): InputReader {
  if (input === undefined || input.validation !== undefined) return () => NOTHING;
  const parameters = input.parameters && inputCheck('params', input.parameters);
  const query = input.query && inputCheck('querystring', input.query);
  const body = input.body && inputCheck('body', input.body);
  const parse = rule?.parse ?? ((request: HttpRequest) => jsonObjectOf(request.body));
  return (request) => ({
    parameters: parameters?.(request.parameters),
    query: query?.(queryFields(request.url)),
    body: body?.(parse(request)),
  });
}

const NOTHING = { parameters: undefined, query: undefined, body: undefined };

/** Parses the query fields; a repeated field becomes a list. */
function queryFields(url: string): Record<string, string | string[]> {
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(queryOf(url))) {
    const before = fields.get(name);
    if (before === undefined) fields.set(name, value);
    else if (typeof before === 'string') fields.set(name, [before, value]);
    else before.push(value);
  }
  return Object.fromEntries(fields);
}
