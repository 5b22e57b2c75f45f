import {
  type HttpAnswer,
  type HttpRequest,
  isPlainText,
  pathOf,
  platformAnswer,
  queryOf,
  type Route,
  type RouteMethod,
} from '@plinth/kernel';
import { Type } from 'typebox';

const MAX_BODY_BYTES = 1_048_576;
const DEFAULT_PAGE = 30;
const MAX_PAGE = 100;

export type OperatorWords = Pick<Route, 'input' | 'output' | 'errors'> & {
  readonly summary: string;
};

/** Of every list. */
export const PAGE = {
  query: Type.Object({
    per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE })),
    cursor: Type.Optional(Type.String()),
  }),
  judged: 'what is no number counts as absent',
} as const;

/** A route of the operator API. */
export const operatorRoute = (
  method: RouteMethod,
  path: string,
  { summary, ...words }: OperatorWords,
  handle: Route['handle'],
): Route => ({
  ...words,
  about: { summary },
  method,
  path: `/ops/v1${path}`,
  access: 'admin',
  ...((method === 'POST' || method === 'PATCH') && { body: { maxBytes: MAX_BODY_BYTES } }),
  handle,
});

/** As in the platform's own lists: what is no number or no cursor counts as absent, what is too much as the most. */
export function pageOf({ url }: HttpRequest): { readonly cursor: string; readonly limit: number } {
  const query = new URLSearchParams(queryOf(url));
  const wanted = Number(query.get('per_page'));
  const limit = Number.isInteger(wanted) && wanted >= 1 ? Math.min(wanted, MAX_PAGE) : DEFAULT_PAGE;
  const cursor = query.get('cursor') ?? '';
  return { cursor: isPlainText(cursor) ? cursor : '', limit };
}

/** A page of a list, with the link to what follows it. */
export function pageAnswer(
  { base, url }: HttpRequest,
  items: readonly object[],
  at: { readonly limit: number; readonly nextCursor: string | undefined },
): HttpAnswer {
  const { limit, nextCursor: cursor } = at;
  if (cursor === undefined) return platformAnswer(200, items);
  const query = new URLSearchParams({ per_page: String(limit), cursor });
  return platformAnswer(200, items, [['link', `<${base}${pathOf(url)}?${query}>; rel="next"`]]);
}

export const isoSeconds = (ms: number): string =>
  new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
