import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { Values } from '../../bound-expr.js';
import type { PlainRowCondition, RowCondition, ScanDraft } from '../scan-draft.js';

/** Returns row conditions that follow from either side of an OR. */
export function eitherCondition(
  left: readonly RowCondition[],
  right: readonly RowCondition[],
): readonly RowCondition[] {
  const conditions: RowCondition[] = [];
  for (const scan of new Set(left.map((rowCondition) => rowCondition.scan))) {
    const [a, b] = [timeRange(left, scan), timeRange(right, scan)];
    if (a !== undefined && b !== undefined) {
      conditions.push({
        scan,
        kind: 'time',
        minNs: least(a.minNs, b.minNs),
        maxNs: greatest(a.maxNs, b.maxNs),
      });
    }
    for (const one of left) {
      if (one.scan !== scan || one.kind !== 'tag' || one.condition.op !== 'in') continue;
      const { tag, values } = one.condition;
      const other = right.find(
        (rowCondition) =>
          rowCondition.scan === scan &&
          rowCondition.kind === 'tag' &&
          rowCondition.condition.op === 'in' &&
          rowCondition.condition.tag === tag,
      );
      if (other?.kind !== 'tag') continue;
      const union = [...new Set([...values, ...other.condition.values])];
      const eithers = [one.recompute, other.recompute];
      const recompute = (values: Values): PlainRowCondition | undefined => {
        const sides = eithers.map((either) => either?.(values));
        const both = sides.flatMap((side) => (side?.kind === 'tag' ? [side.condition.values] : []));
        if (both.length < 2) return undefined;
        return {
          scan,
          kind: 'tag',
          condition: { tag, op: 'in', values: [...new Set(both.flat())] },
        };
      };
      conditions.push({
        scan,
        kind: 'tag',
        condition: { tag, op: 'in', values: union },
        recompute,
      });
    }
  }
  return conditions;
}

/** Intersects the conditions of `scan` on the time; returns `undefined` if there are none. */
function timeRange(
  rowConditions: readonly RowCondition[],
  scan: ScanDraft,
): { readonly minNs: bigint; readonly maxNs: bigint } | undefined {
  let isBounded = false;
  let [minNs, maxNs] = [MIN_TIME_NS, MAX_TIME_NS];
  for (const rowCondition of rowConditions) {
    if (rowCondition.scan !== scan || rowCondition.kind !== 'time') continue;
    isBounded = true;
    minNs = greatest(minNs, rowCondition.minNs);
    maxNs = least(maxNs, rowCondition.maxNs);
  }
  return isBounded ? { minNs, maxNs } : undefined;
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const greatest = (a: bigint, b: bigint): bigint => (a > b ? a : b);
