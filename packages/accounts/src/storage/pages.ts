import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';

/** Where a page begins: behind this object, in the direction of reading. */
export interface Cursor {
  readonly direction: 'next' | 'previous';
  readonly createdMs: number;
  readonly id: string;
}

/** One more than `limit` is read when there is more in the direction of reading. */
export interface PageQuery {
  readonly cursor: Cursor | undefined;
  readonly limit: number;
}

export interface Keyed {
  readonly id: string;
  readonly createdMs: number;
}

/** Rows of a page: compared by (created, id) as one, for which SQLite and PostgreSQL use the index. */
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

/** Newest first, whatever the direction of reading: the one too many is the farthest. */
export function inPageOrder<T extends Keyed>(
  rows: readonly T[],
  { cursor, limit }: PageQuery,
): readonly T[] {
  const sorted = [...rows].sort(newestFirst);
  return cursor?.direction === 'previous' ? sorted.slice(-(limit + 1)) : sorted.slice(0, limit + 1);
}

/** As a store would find them. */
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
