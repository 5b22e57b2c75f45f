import {
  githubResponse,
  type HttpRequest,
  type HttpResponse,
  isPlainText,
  linkValue,
  PER_PAGE,
  pageSize,
  pathOf,
  queryOf,
} from '@plinth/kernel';
import { Type } from 'typebox';

/** Query parameters of every list. */
export const PAGE = {
  query: Type.Object({ per_page: PER_PAGE, cursor: Type.Optional(Type.String()) }),
  validation: 'an invalid number is ignored',
} as const;

/**
 * Returns a page of a list with the link to the next page. As in GitHub's lists, an
 * invalid number or cursor counts as absent, and a number above the maximum as the maximum.
 * @param options `read` returns the items after a cursor, at most `limit`.
 */
export async function pageResponse<Found>(
  { base, url }: HttpRequest,
  options: {
    read(cursor: string, limit: number): Promise<readonly Found[]>;
    show(page: readonly Found[]): readonly object[] | Promise<readonly object[]>;
    cursorOf(last: Found): string;
  },
): Promise<HttpResponse> {
  const query = new URLSearchParams(queryOf(url));
  const limit = pageSize(query.get('per_page'));
  const after = query.get('cursor') ?? '';
  const found = await options.read(isPlainText(after) ? after : '', limit + 1);
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  const shown = await options.show(page);
  if (last === undefined) return githubResponse(200, shown);
  const next = new URLSearchParams({ per_page: String(limit), cursor: options.cursorOf(last) });
  const link = linkValue([['next', `${base}${pathOf(url)}?${next}`]]);
  return githubResponse(200, shown, link === undefined ? [] : [['link', link]]);
}
