import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { grouped } from '@plinth/tsdb-model/grouped.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { type Steps, TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import {
  type CompiledSelect,
  type CompiledSource,
  refKey,
} from '../../plan/compile/compiled-select.js';
import { columnsOf } from '../../plan/compile/source-columns.js';
import { buildFilter } from '../../plan/condition/filter.js';
import { joinPoints, type Rows } from '../series/join-points.js';
import { piecesOf } from '../series/limit-rows.js';
import { NO_POINTS, type Points } from '../series/points.js';
import { rowFunction } from '../series/row-expr.js';
import type { Series } from '../series/series.js';
import type { Session } from '../session.js';
import { TimeBuckets } from '../time-buckets/time-buckets.js';
import { ValueBudget } from '../value-budget.js';
import type { PlainCalls } from './call-blocks.js';
import { type CallPlan, planCall, pointsBefore } from './call-plan.js';
import { type EvaluatedRange, evaluatedGroups } from './evaluated-groups.js';
import { finishCall } from './finish-call.js';
import { type GroupStream, mergedGroups } from './merged-groups.js';
import { type CallGroup, readAggregates } from './read-aggregates.js';
import { isPicked, readPicked } from './read-picked.js';

/** Runs a SELECT with aggregates, selectors or transformations. */
export async function* runCalls(
  select: CompiledSelect,
  name: string,
  sources: readonly CompiledSource[],
  session: Session,
): AsyncGenerator<Series, void, undefined> {
  const run = new CallRun(select, sources, session);
  const narrowed = run.narrowedToLast();
  if (narrowed !== undefined) {
    const series = await firstOf(new CallRun(narrowed, sources, session).series(name));
    // An incomplete range could be missing earlier rows, so its result is used only if it has all
    // requested rows.
    const wantedCount = (select.limit ?? 0) + select.offset;
    if (series !== undefined && series.isFull && series.series.times.length === wantedCount) {
      yield series.series;
      return;
    }
  }
  for await (const { series } of run.series(name)) yield series;
}

/**
 * Returns the aggregate request for one table if every field is a plain aggregate of it, else
 * `undefined`.
 */
export function plainCalls(
  select: CompiledSelect,
  source: CompiledSource,
  session: Session,
): PlainCalls | undefined {
  return new CallRun(select, [source], session).plain();
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}

/** The time range of a call's points that one stream of groups returns. */
interface PointRange {
  readonly plan: CallPlan;
  readonly range: EvaluatedRange;
  readonly timeBuckets: TimeBuckets | undefined;
}

/** One run of a SELECT with calls: plans each call, reads its points by group, and joins them to rows. */
class CallRun {
  readonly #select: CompiledSelect;
  readonly #sources: readonly CompiledSource[];
  readonly #session: Session;
  readonly #timeBuckets: TimeBuckets | undefined;
  readonly #plans: readonly CallPlan[];
  /** For each call, the number of points that it uses from before the time range. */
  readonly #pointsBefore: readonly (number | undefined)[];
  readonly #task: TimeSlicedTask;
  #bucketCount = 0;

  constructor(select: CompiledSelect, sources: readonly CompiledSource[], session: Session) {
    this.#select = select;
    this.#sources = sources;
    this.#session = session;
    this.#task = new TimeSlicedTask(session);
    this.#timeBuckets =
      select.interval === undefined ? undefined : new TimeBuckets(select.interval, select.zone);
    const [source] = sources;
    const isTable = sources.length === 1 && source?.kind === 'table';
    const canGroup = isTable && (this.#timeBuckets?.isUniform ?? true);
    this.#plans = select.calls.map((call) => planCall(call, canGroup));
    const looksBack = select.hasLowerBound && select.lookbackNs > 0n;
    this.#pointsBefore = this.#plans.map((plan) =>
      looksBack ? pointsBefore(plan, select.fill) : undefined,
    );
  }

  /** Narrows a statement without a lower bound to its last buckets, if it returns no others. */
  narrowedToLast(): CompiledSelect | undefined {
    const { limit, offset, isDescending, hasLowerBound, groupTags, fill, calls } = this.#select;
    const timeBuckets = this.#timeBuckets;
    if (!isDescending || limit === undefined || timeBuckets === undefined || !timeBuckets.isUniform)
      return undefined;
    if (hasLowerBound || groupTags.length > 0 || calls.length !== 1 || !this.#plans[0]?.isInDuckDb)
      return undefined;
    if (
      fill.kind === 'previous' ||
      fill.kind === 'linear' ||
      this.#plans[0].transformations.length > 0
    )
      return undefined;
    const start =
      timeBuckets.bucketOf(this.#select.maxNs).start -
      BigInt(limit + offset - 1) * timeBuckets.everyNs;
    return { ...this.#select, minNs: start, hasLowerBound: true };
  }

  /** See `plainCalls`. */
  plain(): PlainCalls | undefined {
    const { minNs, maxNs, fill, fields } = this.#select;
    const [source] = this.#sources;
    const calls = fields.map(({ expr }) => (expr.kind === 'slot' ? expr.index : -1));
    if (source?.kind !== 'table' || !this.#isPlain()) return undefined;
    if (!calls.every((call) => this.#plans[call] !== undefined)) return undefined;
    this.#checkRange();
    return {
      ...this.#read(source, { minNs, maxNs }),
      calls: this.#plans.map(({ innermost }) => innermost),
      baseNs: this.#baseNs,
      fields: calls,
      isFilled: this.#timeBuckets !== undefined && fill.kind === 'null',
      bucketLimit: this.#session.limits.bucketCountPerSeries,
      onSeries: (rowCount) => this.#countBuckets(rowCount),
    };
  }

  /**
   * Returns true if DuckDB computes every call, no call is nested, and rows are neither reversed
   * nor limited.
   */
  #isPlain(): boolean {
    const { isDescending, limit, offset, columns, fill, isSelector } = this.#select;
    if (isDescending || limit !== undefined || offset > 0 || columns.length > 0) return false;
    if (this.#timeBuckets === undefined ? isSelector : !/^(?:null|none)$/.test(fill.kind))
      return false;
    return this.#plans.every(
      ({ call, transformations, isInDuckDb }) =>
        isInDuckDb && transformations.length === 0 && call.type !== 'unknown',
    );
  }

  async *series(
    name: string,
  ): AsyncGenerator<{ readonly series: Series; readonly isFull: boolean }> {
    this.#checkRange();
    const { streams, order } = this.#groupStreams();
    const functions = this.#select.fields.map(({ expr }) =>
      rowFunction(expr, this.#select.calls.length),
    );
    for await (const { tags, points } of mergedGroups(streams, order)) {
      const rows = await this.#task.run(this.#rowsOf(points, functions));
      this.#countBuckets(rows.times.length);
      const first = rows.times.at(this.#isBackward ? -1 : 0);
      const isFull = first !== undefined && points.some((each) => each.times[0] === first);
      const ordered = this.#select.isDescending && !this.#isBackward ? reversed(rows) : rows;
      // Splits the series, so that each piece is written before the next one is processed.
      for (const series of piecesOf({ name, tags, ...ordered })) yield { series, isFull };
    }
  }

  *#rowsOf(
    points: readonly Points[],
    functions: readonly ReturnType<typeof rowFunction>[],
  ): Steps<Rows> {
    const { fill, hasLowerBound, limit, offset, isDescending } = this.#select;
    const budget = new ValueBudget(this.#session);
    const finished: Points[] = [];
    for (const [i, plan] of this.#plans.entries()) {
      const count = this.#pointsBefore[i];
      const earlier = points[this.#plans.length + i] ?? NO_POINTS;
      const of = yield* finishCall(plan, points[i] ?? NO_POINTS, {
        ...{ timeBuckets: this.#timeBuckets, fill, hasLowerBound, isBackward: this.#isBackward },
        ...this.#range(plan, count),
        earlier: count === undefined ? undefined : { points: earlier, count, fromNs: this.#fromNs },
        bucketLimit: this.#session.limits.bucketCountPerSeries,
      });
      budget.add(of.times.length);
      finished.push(of);
    }
    const columns = this.#select.isSelector ? (finished[0]?.otherColumns ?? []) : [];
    const isCutHere = this.#timeBuckets === undefined && isDescending === this.#isBackward;
    const statement = {
      select: this.#select,
      plans: this.#plans,
      timeBuckets: this.#timeBuckets,
      isBackward: this.#isBackward,
      rowLimit: isCutHere && limit !== undefined ? limit + offset : undefined,
      budget,
    };
    return yield* joinPoints(statement, finished, columns, functions);
  }

  #checkRange(): void {
    const { hasLowerBound, minNs, maxNs, fill, lookbackNs } = this.#select;
    if (this.#timeBuckets === undefined || !hasLowerBound) return;
    const { everyNs } = this.#timeBuckets;
    if (fill.kind !== 'none') this.#checkBuckets((maxNs - minNs) / everyNs + 1n);
    if (this.#looksBack) this.#checkBuckets(lookbackNs / everyNs + 1n);
  }

  #checkBuckets(count: bigint): void {
    const limit = this.#session.limits.bucketCountPerSeries;
    if (count > BigInt(limit)) throw tsdbError('bucket_limit_exceeded', { count, limit });
  }

  #countBuckets(count: number): void {
    const { bucketCountPerSeries, bucketCount } = this.#session.limits;
    if (this.#timeBuckets === undefined) return;
    if (count > bucketCountPerSeries)
      throw tsdbError('bucket_limit_exceeded', {
        count: BigInt(count),
        limit: bucketCountPerSeries,
      });
    this.#bucketCount += count;
    if (this.#bucketCount > bucketCount) {
      throw tsdbError('bucket_limit_exceeded', {
        count: BigInt(this.#bucketCount),
        limit: bucketCount,
      });
    }
  }

  /**
   * Creates one stream of groups for all ranges that need the same rows. In `order`, points from
   * before the time range come after those within it.
   */
  #groupStreams(): {
    readonly streams: readonly GroupStream[];
    readonly order: readonly CallPlan[];
  } {
    const ranges = this.#plans.map((plan, i): PointRange => {
      return {
        plan,
        range: this.#range(plan, this.#pointsBefore[i]),
        timeBuckets: this.#timeBuckets,
      };
    });
    if (this.#looksBack) {
      // Copies the plan, because the order identifies plans by reference.
      for (const [i, plan] of this.#plans.entries())
        ranges.push(this.#rangeBefore({ ...plan }, this.#pointsBefore[i]));
    }
    const known = ranges.filter(
      ({ plan, range }) => plan.call.type !== 'unknown' && range.minNs <= range.maxNs,
    );
    const kinds = grouped(known, ({ plan: { isInDuckDb, ofColumn }, range, timeBuckets }) => {
      const column =
        range.lastTimes === undefined || ofColumn === undefined ? '' : refKey(ofColumn);
      const { minNs, maxNs, lastTimes } = range;
      return `${isInDuckDb} ${minNs} ${maxNs} ${lastTimes} ${timeBuckets === undefined} ${column}`;
    });
    return {
      streams: Array.from(kinds.values(), (same) => ({
        plans: same.map(({ plan }) => plan),
        groups: this.#groupsOf(same)[Symbol.asyncIterator](),
      })),
      order: ranges.map(({ plan }) => plan),
    };
  }

  #groupsOf(ranges: readonly PointRange[]): AsyncIterable<CallGroup> {
    const plans = ranges.map(({ plan }) => plan);
    const [plan] = plans;
    const { range = this.#select, timeBuckets } = ranges[0] ?? {};
    const [source] = this.#sources;
    if (plan?.isInDuckDb && source?.kind === 'table') {
      const { isSelector, columns } = this.#select;
      const read = { ...this.#read(source, range), timeBuckets };
      const hasOwnTime = this.#timeBuckets === undefined || columns.length > 0;
      if (isSelector && isPicked(plan.innermost) && hasOwnTime)
        return readPicked({ ...read, call: plan.innermost, otherColumns: columns }, this.#session);
      return readAggregates(
        { ...read, calls: plans.map(({ innermost }) => innermost), baseNs: this.#baseNs },
        this.#session,
      );
    }
    const statement = {
      select: this.#select,
      sources: this.#sources,
      session: this.#session,
      timeBuckets,
      baseNs: this.#baseNs,
      task: this.#task,
    };
    return evaluatedGroups(statement, plans, range);
  }

  /** Reads a table within a time range. */
  #read(
    source: Extract<CompiledSource, { kind: 'table' }>,
    range: Pick<CompiledSelect, 'minNs' | 'maxNs'>,
  ) {
    const { condition, groupTags, hasLowerBound } = this.#select;
    const filter = condition === undefined ? undefined : buildFilter(condition, columnsOf(source));
    return { source, filter, ...range, groupTags, hasLowerBound, timeBuckets: this.#timeBuckets };
  }

  get #looksBack(): boolean {
    return this.#pointsBefore.some((count) => count !== undefined);
  }

  /** A look-back uses the points before the time range, also with ORDER BY time DESC. */
  get #isBackward(): boolean {
    return this.#select.isDescending && this.#session.runsBackward && !this.#looksBack;
  }

  /**
   * Returns the time range to read for a call, without its look-back. It includes the buckets that
   * precede it in run direction.
   */
  #range({ bucketsBefore: lookBack }: CallPlan, before: number | undefined): EvaluatedRange {
    const { minNs, maxNs, hasLowerBound } = this.#select;
    if (this.#timeBuckets === undefined || before === 0) return { minNs, maxNs };
    // The first bucket of a transformation is complete.
    if (before !== undefined) return { minNs: this.#timeBuckets.bucketOf(minNs).start, maxNs };
    const beforeNs = BigInt(lookBack) * this.#timeBuckets.everyNs;
    if (this.#isBackward) {
      const end = maxNs + beforeNs;
      return { minNs, maxNs: end > MAX_TIME_NS ? MAX_TIME_NS : end };
    }
    return { minNs: hasLowerBound ? minNs - beforeNs : minNs, maxNs };
  }

  /** Returns the points of a call before its time range, none if it has no look-back. */
  #rangeBefore(plan: CallPlan, before: number | undefined): PointRange {
    const timeBuckets = this.#timeBuckets;
    const { minNs: startNs } = this.#range(plan, before);
    if (before === undefined)
      return { plan, range: { minNs: startNs, maxNs: startNs - 1n }, timeBuckets };
    const range = { minNs: this.#fromNs, maxNs: startNs - 1n };
    if (timeBuckets === undefined) {
      // A statement cannot keep more rows in memory.
      const lastTimes = Math.min(before, this.#session.limits.heldValueCount);
      return { plan, range: { ...range, lastTimes }, timeBuckets };
    }
    // The last value of all buckets is the value of the last bucket.
    const isWhole = before === 0 && plan.isInDuckDb && plan.innermost.name === 'last';
    return { plan, range, timeBuckets: isWhole ? undefined : timeBuckets };
  }

  /** Start of the look-back, at the start of a bucket. */
  get #fromNs(): bigint {
    const { minNs, lookbackNs } = this.#select;
    const fromNs = minNs - lookbackNs < MIN_TIME_NS ? MIN_TIME_NS : minNs - lookbackNs;
    return this.#timeBuckets?.bucketOf(fromNs).start ?? fromNs;
  }

  get #baseNs(): bigint {
    return this.#select.hasLowerBound ? this.#select.minNs : 0n;
  }
}

function reversed({ times, columns }: Rows): Rows {
  return { times: times.toReversed(), columns: columns.map((column) => column.toReversed()) };
}
