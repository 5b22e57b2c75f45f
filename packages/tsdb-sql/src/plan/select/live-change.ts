import type { LiveChange } from '@plinth/tsdb-model/query/planned-query.js';
import type { QueryEnv } from '../../bind/session.js';
import type { OrderByExpr, Select } from '../../parse/ast.js';
import type { FromItem } from '../from/table-factor.js';
import { keyOf } from './column-query-template.js';
import type { BoundGroups } from './group-by.js';
import { isLimited, type RowLimit } from './order-limit.js';
import type { OutputItem } from './projection.js';

/** Returns `undefined` if new rows may change other rows of the result. */
export function liveChange(bound: {
  readonly select: Select;
  readonly from: FromItem | undefined;
  readonly groups: BoundGroups | undefined;
  readonly items: readonly OutputItem[];
  readonly orderBy: readonly OrderByExpr[];
  readonly limit: RowLimit;
  readonly around: QueryEnv;
}): LiveChange | undefined {
  const { select, from, groups, items, orderBy, limit, around } = bound;
  if (from?.tableName === undefined || around.depth > 0 || isLimited(limit)) return undefined;
  if (select.qualify !== undefined || (select.distinct ?? 'All') !== 'All') return undefined;
  if (items.some(({ expr }) => expr.hasWindow)) return undefined;
  if (groups === undefined) return orderBy.length > 0 ? undefined : { kind: 'rows' };
  const { gaps, keys } = groups.aggregation;
  const [bucket, ...others] = keys.flatMap(({ input }) => {
    const key = keyOf(input);
    return key?.kind === 'bucket' ? [key] : [];
  });
  if (bucket === undefined || others.length > 0 || gaps !== undefined || groups.hasSets)
    return undefined;
  return { kind: 'buckets', widthNs: bucket.widthNs };
}
