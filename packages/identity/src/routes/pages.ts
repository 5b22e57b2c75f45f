import {
  type HttpAnswer,
  type HttpRequest,
  isPlainText,
  pathOf,
  platformAnswer,
  queryOf,
} from '@plinth/kernel';
import { Type } from 'typebox';

const DEFAULT_PAGE = 30;
const MAX_PAGE = 100;

/** Of every list. */
export const PAGE = {
  query: Type.Object({
    per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE })),
    cursor: Type.Optional(Type.String()),
  }),
  judged: 'what is no number counts as absent',
} as const;

/**
 * A page of a list, with the link to what follows it. As in the platform's own lists what is no number or no cursor counts
 * as absent, what is too much as the most.
 * @param at `read` finds what is behind a cursor, at most so many.
 */
export async function pageAnswer<Found>(
  { base, url }: HttpRequest,
  at: {
    read(cursor: string, limit: number): Promise<readonly Found[]>;
    show(page: readonly Found[]): readonly object[] | Promise<readonly object[]>;
    cursorOf(last: Found): string;
  },
): Promise<HttpAnswer> {
  const query = new URLSearchParams(queryOf(url));
  const wanted = Number(query.get('per_page'));
  const limit = Number.isInteger(wanted) && wanted >= 1 ? Math.min(wanted, MAX_PAGE) : DEFAULT_PAGE;
  const after = query.get('cursor') ?? '';
  const found = await at.read(isPlainText(after) ? after : '', limit + 1);
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  const shown = await at.show(page);
  if (last === undefined) return platformAnswer(200, shown);
  const next = new URLSearchParams({ per_page: String(limit), cursor: at.cursorOf(last) });
  return platformAnswer(200, shown, [['link', `<${base}${pathOf(url)}?${next}>; rel="next"`]]);
}
