import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';

/** Start of a page: the first object after this one in reading direction. */
export interface Cursor {
  readonly direction: 'next' | 'previous';
  readonly createdMs: number;
  readonly id: string;
}

/** Reads one row more than `limit` if there is a further page in reading direction. */
export interface PageQuery {
  readonly cursor: Cursor | undefined;
  readonly limit: number;
}

export interface Keyed {
  readonly id: string;
  readonly createdMs: number;
}

/**
 * Selects the rows of a page. (created, id) is compared as a row value, for which SQLite and
 * PostgreSQL use the index.
 */
export const inPage =
  ({ cursor, limit }: PageQuery) =>
  <DB, TB extends keyof DB, O>(
    query: SelectQueryBuilder<DB, TB, O>,
  ): SelectQueryBuilder<DB, TB, O> => {
    const isBackwards = cursor?.direction === 'previous';
    const comparison = sql.raw(isBackwards ? '>' : '<');
    const behind =
      cursor && sql<SqlBool>`(created_ms, id) ${comparison} (${cursor.createdMs}, ${cursor.id})`;
    const direction = isBackwards ? 'asc' : 'desc';
    return (behind === undefined ? query : query.where(behind))
      .orderBy(sql`created_ms`, direction)
      .orderBy(sql`id`, direction)
      .limit(limit + 1);
  };

/**
 * Returns the rows newest first, for either reading direction. The extra row is the one farthest
 * from the start.
 */
export function inPageOrder<T extends Keyed>(
  rows: readonly T[],
  { cursor, limit }: PageQuery,
): readonly T[] {
  const sorted = [...rows].sort(newestFirst);
  return cursor?.direction === 'previous' ? sorted.slice(-(limit + 1)) : sorted.slice(0, limit + 1);
}

/** Pages through an in-memory list in the same way as through a store. */
export function pageOfList<T extends Keyed>(all: readonly T[], page: PageQuery): readonly T[] {
  const { cursor } = page;
  if (cursor === undefined) return inPageOrder(all, page);
  const isNext = cursor.direction === 'next';
  const behind = all.filter((each) => {
    const order = newestFirst(each, cursor);
    return isNext ? order > 0 : order < 0;
  });
  return inPageOrder(behind, page);
}

const newestFirst = (a: Keyed, b: Keyed): number =>
  b.createdMs - a.createdMs || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
