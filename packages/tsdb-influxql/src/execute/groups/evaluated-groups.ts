import type { Steps, TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import {
  type ColumnRef,
  type CompiledCall,
  type CompiledSelect,
  type CompiledSource,
  refKey,
} from '../../plan/compile/compiled-select.js';
import type { Value } from '../../plan/data-type.js';
import {
  type ColumnPoints,
  type GroupRows,
  type Points,
  pointsOfColumn,
  reversedRows,
} from '../series/points.js';
import { compareTags } from '../series/series.js';
import { type SourceRowsRequest, sourceRows } from '../series/source-rows.js';
import { exactValues } from '../series/vector-values.js';
import type { Session } from '../session.js';
import type { TimeBuckets } from '../time-buckets/time-buckets.js';
import { ValueBudget } from '../value-budget.js';
import type { CallPlan } from './call-plan.js';
import { evaluateCall } from './evaluate-call.js';
import type { CallGroup } from './read-aggregates.js';

/** The statement whose calls are computed. */
export interface Evaluated {
  readonly select: CompiledSelect;
  readonly sources: readonly CompiledSource[];
  readonly session: Session;
  readonly timeBuckets: TimeBuckets | undefined;
  /** Base time for calls in statements without buckets. */
  readonly baseNs: bigint;
  readonly task: TimeSlicedTask;
}

export interface EvaluatedRange {
  readonly minNs: bigint;
  readonly maxNs: bigint;
  /** Number of last timestamps whose rows are needed; sources may return more. */
  readonly lastTimes?: number | undefined;
}

/**
 * Computes groups from their rows in TypeScript, for functions that DuckDB lacks and for buckets of
 * unequal length.
 */
export async function* evaluatedGroups(
  statement: Evaluated,
  plans: readonly CallPlan[],
  range: EvaluatedRange,
): AsyncGenerator<CallGroup> {
  const { select, session, timeBuckets, baseNs, task } = statement;
  const refs = distinctRefs([
    ...plans.flatMap(({ innermost, ofColumn }) =>
      ofColumn === undefined ? innermostRefs(innermost) : [ofColumn],
    ),
    ...select.columns,
  ]);
  const places = new Map(refs.map((ref, i) => [refKey(ref), i]));
  const columnOf = (rows: GroupRows, ref: ColumnRef): ArrayLike<Value> =>
    rows.columns[places.get(refKey(ref)) ?? -1] ?? [];
  const request = rowsRequest(statement, refs, range);
  const pieces = sourceRows(request, session);
  const context = {
    timeBuckets,
    bucketLimit: session.limits.bucketCountPerSeries,
    baseNs,
    isSelector: select.isSelector,
    random: () => session.random(),
    columnOf,
  };
  const otherRefs = select.isSelector ? select.columns : [];
  for await (const group of joinedGroups(pieces, { refs, session, task })) {
    const { tags } = group;
    const rows = request.isDescending ? reversedRows(group.rows) : group.rows;
    const points: Points[] = [];
    const budget = new ValueBudget(session);
    const columnPoints = new Map<ArrayLike<Value>, ColumnPoints>();
    for (const { innermost, ofColumn } of plans) {
      if (ofColumn !== undefined) {
        const column = columnOf(rows, ofColumn);
        const found = columnPoints.get(column) ?? (await task.run(pointsOfColumn(rows, column)));
        columnPoints.set(column, found);
        points.push({ times: found.times, values: found.values });
        continue;
      }
      const found = await task.run(evaluateCall(innermost, rows, context));
      budget.add(found.times.length);
      const picked = found.rows;
      const otherColumns = otherRefs.map((ref) => {
        const column = columnOf(rows, ref);
        return picked?.map((row) => column[row] ?? null) ?? [];
      });
      points.push(
        picked === undefined || otherRefs.length === 0 ? found : { ...found, otherColumns },
      );
    }
    yield { tags, points };
  }
}

function rowsRequest(
  { select, sources }: Evaluated,
  refs: readonly ColumnRef[],
  range: EvaluatedRange,
): SourceRowsRequest {
  const areTables = sources.every(({ kind }) => kind === 'table');
  const requiredColumns = areTables
    ? refs.filter(({ isTag, type }) => !isTag && type !== 'unknown')
    : [];
  return {
    select: { ...select, maxNs: range.maxNs },
    sources: sources.map((source) => widened(source, range)),
    refs,
    requiredColumns,
    minNs: range.minNs,
    isDescending: range.lastTimes !== undefined,
    // Rows without a value do not count toward the limit.
    rowLimit: requiredColumns.length === 1 ? range.lastTimes : undefined,
    limitsTimes: true,
    lastRowsOnly: false,
  };
}

/** Joins the consecutive pieces of each group. */
async function* joinedGroups(
  pieces: AsyncIterable<GroupRows & { readonly tags: readonly string[] }>,
  options: { readonly refs: readonly ColumnRef[] } & Pick<Evaluated, 'session' | 'task'>,
): AsyncGenerator<{ readonly tags: readonly string[]; readonly rows: GroupRows }> {
  const { refs, session, task } = options;
  let pending: { tags: readonly string[]; parts: GroupRows[] } | undefined;
  let count = new ValueBudget(session);
  for await (const piece of pieces) {
    await task.yieldIfDue();
    if (pending !== undefined && compareTags(pending.tags, piece.tags) !== 0) {
      yield { tags: pending.tags, rows: await task.run(joinedRows(pending.parts)) };
      pending = undefined;
      count = new ValueBudget(session);
    }
    count.add(piece.times.length * (piece.columns.length + 1));
    pending ??= { tags: piece.tags, parts: [] };
    pending.parts.push({
      times: piece.times,
      columns: piece.columns.map((column, i) => exactValues(column, refs[i]?.type ?? 'unknown')),
    });
  }
  if (pending === undefined) return;
  yield { tags: pending.tags, rows: await task.run(joinedRows(pending.parts)) };
}

/** Returns a subquery with another outer time range; its own bounds still apply. */
function widened(
  source: CompiledSource,
  range: { readonly minNs: bigint; readonly maxNs: bigint },
): CompiledSource {
  if (source.kind === 'table') return source;
  const { min = range.minNs, max = range.maxNs } = source.select.ownRange;
  const inner = {
    minNs: min > range.minNs ? min : range.minNs,
    maxNs: max < range.maxNs ? max : range.maxNs,
  };
  const sources = source.select.sources.map((each) => widened(each, inner));
  return { kind: 'subquery', select: { ...source.select, ...inner, sources } };
}

function innermostRefs(innermost: CompiledCall): ColumnRef[] {
  const { argument } = innermost;
  const refs = argument.kind === 'column' ? [argument.ref] : innermostRefs(argument.call);
  return [...refs, ...innermost.dimensions];
}

function distinctRefs(refs: readonly ColumnRef[]): ColumnRef[] {
  return [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
}

function* joinedRows(parts: readonly GroupRows[]): Steps<GroupRows> {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const times: bigint[] = [];
  const columns: Value[][] = only?.columns.map(() => []) ?? [];
  for (const part of parts) {
    yield;
    for (let row = 0; row < part.times.length; row++) {
      times.push(part.times[row] as bigint);
      for (let i = 0; i < columns.length; i++) columns[i]?.push(part.columns[i]?.[row] ?? null);
    }
  }
  return { times, columns };
}
