import type { Source } from './sources.js';

/**
 * Returns the SQL columns that order the writes of a point. Of two writes, the later one has the
 * greater (`_seq_rank`, `_seq`, `_seq_order`). The row of a unique source is always the first write
 * of its point. `_seq_order` is omitted without `order`.
 */
export function orderColumns({
  kind,
  order,
  hasSeq = kind !== 'unique',
}: Pick<Source, 'kind'> & {
  readonly order?: string;
  readonly hasSeq?: boolean;
}): readonly string[] {
  const isUnique = kind === 'unique';
  return [
    `${isUnique ? 0 : 1} AS _seq_rank`,
    hasSeq ? '_seq' : '0::BIGINT AS _seq',
    ...(order === undefined ? [] : [`${isUnique ? '0' : `(${order})`}::BIGINT AS _seq_order`]),
  ];
}

/** Returns the SQL aggregates that give each field the value of its latest write. */
export const latestValues = (
  names: readonly string[],
  order = '_seq_rank, _seq, _seq_order',
): readonly string[] =>
  names.map((name) => `last(${name} ORDER BY ${order}) FILTER (${name} IS NOT NULL) AS ${name}`);

/** Returns the condition that the rows of two SQL aliases belong to the same point. */
export const samePointCondition = (one: string, other: string): string =>
  `${one}._series = ${other}._series AND ${one}."time" = ${other}."time"`;
