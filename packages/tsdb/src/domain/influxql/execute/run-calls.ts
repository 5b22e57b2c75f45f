import { BucketLimitExceeded, QueryTooLarge } from '../../../errors.js';
import { MAX_TIME_NS } from '../../../model/scan.js';
import { isStepEnd, StepRunner, type Steps } from '../../../model/steps.js';
import { holtWinters } from '../functions/holt-winters.js';
import { transform } from '../functions/transformations.js';
import type {
  ColumnRef,
  CompiledCall,
  CompiledSelect,
  CompiledSource,
} from '../plan/compiled-select.js';
import type { Value } from '../plan/data-type.js';
import { buildFilter } from '../plan/filter.js';
import { FORECASTS, LOOK_BACK, TRANSFORMATIONS } from '../plan/functions.js';
import { columnsOf } from '../plan/source-columns.js';
import type { PlainCalls } from './call-blocks.js';
import { slicePiece } from './cut-rows.js';
import { evaluateCall } from './evaluate-call.js';
import { filled, fillNumber } from './fill.js';
import { type GroupRows, NO_POINTS, type Points, pointsOfColumn } from './points.js';
import {
  type CallGroup,
  isEngineCall,
  isPicked,
  readAggregates,
  readPicked,
} from './read-aggregates.js';
import { rowFunction } from './row-expr.js';
import type { Series } from './series.js';
import type { Session } from './session.js';
import { compareTags, sourceRows } from './source-rows.js';
import { exactValues } from './vector-values.js';
import { Windows } from './windows.js';

/** Rows of a series that are handed on at a time. */
const PIECE_ROWS = 8192;

/** Rows made by aggregates, selectors and transformations. */
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
    // Only when the range is full to its beginning there is nothing before it that would change the answer.
    const wantedCount = (select.limit ?? 0) + select.offset;
    if (series !== undefined && series.isFull && series.series.times.length === wantedCount) {
      yield series.series;
      return;
    }
  }
  for await (const { series } of run.series(name)) yield series;
}

/** What is asked about one table when each field is an aggregate of it and nothing else; `undefined`: it is more than that. */
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

/** How one call is computed: its innermost call or column, and the transformations around that. */
interface CallPlan {
  readonly call: CompiledCall;
  readonly leaf: CompiledCall;
  /** The innermost transformation is of a column: its points are the column's. */
  readonly ofColumn: ColumnRef | undefined;
  /** From the inside out. */
  readonly around: readonly CompiledCall[];
  /** Buckets before the range that are read as well. */
  readonly lookBack: number;
  readonly isInEngine: boolean;
}

/** A stream of groups with the points of some of the calls. */
interface Reading {
  readonly plans: readonly CallPlan[];
  readonly groups: AsyncIterator<CallGroup>;
}

class CallRun {
  readonly #select: CompiledSelect;
  readonly #sources: readonly CompiledSource[];
  readonly #session: Session;
  readonly #windows: Windows | undefined;
  readonly #plans: readonly CallPlan[];
  readonly #runner: StepRunner;
  #bucketCount = 0;

  constructor(select: CompiledSelect, sources: readonly CompiledSource[], session: Session) {
    this.#select = select;
    this.#sources = sources;
    this.#session = session;
    this.#runner = new StepRunner(session.signal);
    this.#windows =
      select.interval === undefined ? undefined : new Windows(select.interval, select.zone);
    const [source] = sources;
    const isTable = sources.length === 1 && source?.kind === 'table';
    const canGroup = isTable && (this.#windows?.isUniform ?? true);
    this.#plans = select.calls.map((call) => planCall(call, canGroup));
  }

  /** The last buckets of a statement without a lower bound, when those are all that is asked for. */
  narrowedToLast(): CompiledSelect | undefined {
    const { limit, offset, isDescending, hasLowerBound, groupTags, fill, calls } = this.#select;
    const windows = this.#windows;
    if (!isDescending || limit === undefined || windows === undefined || !windows.isUniform)
      return undefined;
    if (hasLowerBound || groupTags.length > 0 || calls.length !== 1 || !this.#plans[0]?.isInEngine)
      return undefined;
    if (fill.kind === 'previous' || fill.kind === 'linear' || this.#plans[0].around.length > 0)
      return undefined;
    const start =
      windows.of(this.#select.maxNs).start - BigInt(limit + offset - 1) * windows.everyNs;
    return { ...this.#select, minNs: start, hasLowerBound: true };
  }

  /** See `plainCalls`. */
  plain(): PlainCalls | undefined {
    const { condition, groupTags, hasLowerBound, minNs, maxNs, fill, fields } = this.#select;
    const [source] = this.#sources;
    const calls = fields.map(({ expr }) => (expr.kind === 'slot' ? expr.index : -1));
    if (source?.kind !== 'table' || !this.#isPlain()) return undefined;
    if (!calls.every((call) => this.#plans[call] !== undefined)) return undefined;
    this.#checkRange();
    const filter = condition === undefined ? undefined : buildFilter(condition, columnsOf(source));
    const windows = this.#windows;
    return {
      ...{ source, filter, minNs, maxNs, groupTags, hasLowerBound, windows },
      calls: this.#plans.map(({ leaf }) => leaf),
      baseNs: this.#baseNs,
      fields: calls,
      isFilled: windows !== undefined && fill.kind === 'null',
      bucketLimit: this.#session.limits.bucketCountPerSeries,
      onSeries: (rowCount) => this.#countBuckets(rowCount),
    };
  }

  /** Every call is one of the engine's and stands alone; rows are neither turned round nor cut. */
  #isPlain(): boolean {
    const { isDescending, limit, offset, columns, fill, isSelector } = this.#select;
    if (isDescending || limit !== undefined || offset > 0 || columns.length > 0) return false;
    if (this.#windows === undefined ? isSelector : !/^(?:null|none)$/.test(fill.kind)) return false;
    return this.#plans.every(
      ({ call, around, isInEngine }) =>
        isInEngine && around.length === 0 && call.type !== 'unknown',
    );
  }

  async *series(
    name: string,
  ): AsyncGenerator<{ readonly series: Series; readonly isFull: boolean }> {
    this.#checkRange();
    const readings = this.#readings();
    const functions = this.#select.fields.map(({ expr }) =>
      rowFunction(expr, this.#select.calls.length),
    );
    for await (const { tags, points } of mergedGroups(readings, this.#plans)) {
      const rows = await this.#runner.run(this.#rowsOf(points, functions));
      this.#countBuckets(rows.times.length);
      const first = rows.times.at(this.#isBackward ? -1 : 0);
      const isFull = first !== undefined && points.some((each) => each.times[0] === first);
      const ordered = this.#select.isDescending && !this.#isBackward ? reversed(rows) : rows;
      // In pieces: what is written of one goes out before the next is looked at.
      const count = ordered.times.length;
      for (let from = 0; from < count || from === 0; from += PIECE_ROWS) {
        const series = slicePiece(
          { name, tags, ...ordered },
          from,
          Math.min(count, from + PIECE_ROWS),
        );
        yield { series, isFull };
      }
    }
  }

  *#rowsOf(
    points: readonly Points[],
    functions: readonly ReturnType<typeof rowFunction>[],
  ): Steps<Rows> {
    const finished: Points[] = [];
    for (let i = 0; i < this.#plans.length; i++) {
      finished.push(yield* this.#finish(this.#plans[i] as CallPlan, points[i] ?? NO_POINTS)); // below the length
    }
    const columns = this.#select.isSelector ? (finished[0]?.beside ?? []) : [];
    return yield* this.#joined(finished, columns, functions);
  }

  #checkRange(): void {
    const { hasLowerBound, minNs, maxNs, fill } = this.#select;
    if (this.#windows === undefined || !hasLowerBound || fill.kind === 'none') return;
    const count = (maxNs - minNs) / this.#windows.everyNs + 1n;
    const limit = this.#session.limits.bucketCountPerSeries;
    if (count > BigInt(limit)) throw new BucketLimitExceeded({ count, limit });
  }

  #countBuckets(count: number): void {
    const { bucketCountPerSeries, bucketCount } = this.#session.limits;
    if (this.#windows === undefined) return;
    if (count > bucketCountPerSeries)
      throw new BucketLimitExceeded({ count: BigInt(count), limit: bucketCountPerSeries });
    this.#bucketCount += count;
    if (this.#bucketCount > bucketCount) {
      throw new BucketLimitExceeded({ count: BigInt(this.#bucketCount), limit: bucketCount });
    }
  }

  /** One reading for all calls that want the same rows. */
  #readings(): Reading[] {
    const kinds = new Map<string, CallPlan[]>();
    for (const plan of this.#plans) {
      if (plan.call.type === 'unknown') continue;
      const key = `${plan.isInEngine} ${plan.lookBack}`;
      const same = kinds.get(key);
      if (same === undefined) kinds.set(key, [plan]);
      else same.push(plan);
    }
    return [...kinds.values()].map((plans) => ({
      plans,
      groups: this.#groupsOf(plans)[Symbol.asyncIterator](),
    }));
  }

  #groupsOf(plans: readonly CallPlan[]): AsyncIterable<CallGroup> {
    const [plan] = plans;
    const { minNs, maxNs } = this.#range(plan?.lookBack ?? 0);
    const [source] = this.#sources;
    if (plan?.isInEngine && source?.kind === 'table') {
      const { condition, groupTags, hasLowerBound, isSelector, columns } = this.#select;
      const filter =
        condition === undefined ? undefined : buildFilter(condition, columnsOf(source));
      const range = {
        source,
        filter,
        minNs,
        maxNs,
        groupTags,
        hasLowerBound,
        windows: this.#windows,
      };
      if (
        isSelector &&
        isPicked(plan.leaf) &&
        (this.#windows === undefined || columns.length > 0)
      ) {
        return readPicked({ ...range, call: plan.leaf, beside: columns }, this.#session);
      }
      return readAggregates(
        { ...range, calls: plans.map(({ leaf }) => leaf), baseNs: this.#baseNs },
        this.#session,
      );
    }
    return this.#evaluated(plans, { minNs, maxNs });
  }

  get #isBackward(): boolean {
    return this.#select.isDescending && this.#session.runsBackward;
  }

  /** What is read for a call: with the buckets before the range, seen in the direction that it runs in. */
  #range(lookBack: number): { readonly minNs: bigint; readonly maxNs: bigint } {
    const { minNs, maxNs, hasLowerBound } = this.#select;
    if (this.#windows === undefined) return { minNs, maxNs };
    const beforeNs = BigInt(lookBack) * this.#windows.everyNs;
    if (this.#isBackward) {
      const end = maxNs + beforeNs;
      return { minNs, maxNs: end > MAX_TIME_NS ? MAX_TIME_NS : end };
    }
    return { minNs: hasLowerBound ? minNs - beforeNs : minNs, maxNs };
  }

  get #baseNs(): bigint {
    return this.#select.hasLowerBound ? this.#select.minNs : 0n;
  }

  /** Groups whose calls are computed here, from their rows. */
  async *#evaluated(
    plans: readonly CallPlan[],
    range: { readonly minNs: bigint; readonly maxNs: bigint },
  ): AsyncGenerator<CallGroup> {
    const refs = distinctRefs([
      ...plans.flatMap(({ leaf, ofColumn }) =>
        ofColumn === undefined ? leafRefs(leaf) : [ofColumn],
      ),
      ...this.#select.columns,
    ]);
    const wanted = refs.filter(({ isTag, type }) => !isTag && type !== 'unknown');
    const places = new Map(refs.map((ref, i) => [refKey(ref), i]));
    const columnOf = (rows: GroupRows, ref: ColumnRef): ArrayLike<Value> =>
      rows.columns[places.get(refKey(ref)) ?? -1] ?? [];
    const pieces = sourceRows(
      {
        select: { ...this.#select, maxNs: range.maxNs },
        sources: this.#sources.map((source) => widened(source, range)),
        refs,
        wanted: this.#sources.every(({ kind }) => kind === 'table') ? wanted : [],
        minNs: range.minNs,
        isDescending: false,
        rowLimit: undefined,
        lastRowsOnly: false,
      },
      this.#session,
    );
    const context = {
      windows: this.#windows,
      baseNs: this.#baseNs,
      isSelector: this.#select.isSelector,
      random: () => this.#session.random(),
      columnOf,
    };
    const besides = this.#select.isSelector ? this.#select.columns : [];
    for await (const { tags, rows } of this.#wholeGroups(pieces, refs)) {
      const points: Points[] = [];
      for (const { leaf, ofColumn } of plans) {
        if (ofColumn !== undefined) {
          const column = columnOf(rows, ofColumn);
          const { times, values } = await this.#runner.run(pointsOfColumn(rows, column));
          points.push({ times: Array.from(times), values: Array.from(values) });
          continue;
        }
        const found = await this.#runner.run(evaluateCall(leaf, rows, context));
        const picked = found.rows;
        const beside = besides.map((ref) => {
          const column = columnOf(rows, ref);
          return picked?.map((row) => column[row] ?? null) ?? [];
        });
        points.push(picked === undefined || besides.length === 0 ? found : { ...found, beside });
      }
      yield { tags, points };
    }
  }

  async *#wholeGroups(
    pieces: AsyncIterable<GroupRows & { readonly tags: readonly string[] }>,
    refs: readonly ColumnRef[],
  ): AsyncGenerator<{ readonly tags: readonly string[]; readonly rows: GroupRows }> {
    let held: { tags: readonly string[]; parts: GroupRows[] } | undefined;
    let valueCount = 0;
    for await (const piece of pieces) {
      await this.#runner.take();
      if (held !== undefined && compareTags(held.tags, piece.tags) !== 0) {
        yield { tags: held.tags, rows: await this.#runner.run(joinedRows(held.parts)) };
        held = undefined;
        valueCount = 0;
      }
      valueCount += piece.times.length * (piece.columns.length + 1);
      if (valueCount > this.#session.limits.heldValueCount) {
        throw new QueryTooLarge(this.#session.limits.heldValueCount);
      }
      held ??= { tags: piece.tags, parts: [] };
      held.parts.push({
        times: piece.times,
        columns: piece.columns.map((column, i) => exactValues(column, refs[i]?.type ?? 'unknown')),
      });
    }
    if (held === undefined) return;
    yield { tags: held.tags, rows: await this.#runner.run(joinedRows(held.parts)) };
  }

  /** Fills the buckets of the innermost call and applies what stands around it; in the direction of the run. */
  *#finish(plan: CallPlan, leafPoints: Points): Steps<Points> {
    const { fill, hasLowerBound } = this.#select;
    const isFilled = plan.ofColumn === undefined && !UNFILLED.has(plan.leaf.name);
    let points = leafPoints;
    if (this.#windows !== undefined && isFilled) {
      points = yield* filled(points, {
        windows: this.#windows,
        fill,
        ...this.#range(plan.lookBack),
        hasLowerBound,
        type: plan.leaf.type,
        isBackward: this.#isBackward,
        isCount: plan.leaf.name === 'count',
        bucketLimit: this.#session.limits.bucketCountPerSeries,
      });
    }
    if (!this.#isBackward) return yield* this.#transformed(plan, points);
    // Forecasts look ahead, whatever the order of the answer.
    return plan.around.some(({ name }) => FORECASTS.has(name))
      ? reversedPoints(yield* this.#transformed(plan, points))
      : yield* this.#transformed(plan, reversedPoints(points));
  }

  *#transformed(plan: CallPlan, leafPoints: Points): Steps<Points> {
    const intervalNs = this.#windows?.everyNs;
    let points = leafPoints;
    for (const call of plan.around) {
      points = FORECASTS.has(call.name)
        ? yield* holtWinters(points, {
            forecastCount: Number(call.options[0] ?? 0),
            season: Number(call.options[1] ?? 0),
            withFit: call.name === 'holt_winters_with_fit',
            intervalNs: intervalNs ?? 1n,
          })
        : yield* transform(call.name, points, {
            options: call.options,
            defaultUnitNs: intervalNs ?? 1_000_000_000n,
          });
    }
    return points;
  }

  /** What stands in a column beside a selector where its row has no value. @param previous in the row before. */
  #filledBeside(index: number, previous: Value): Value {
    const { fill, columns } = this.#select;
    const isFilled = this.#plans.every(({ leaf }) => !UNFILLED.has(leaf.name));
    if (this.#windows === undefined || !isFilled) return null;
    if (fill.kind === 'previous') return previous;
    return fill.kind === 'number'
      ? fillNumber(fill.value, columns[index]?.type ?? 'unknown')
      : null;
  }

  /** Points of all calls side by side: rows by time, in the direction of the run. */
  *#joined(
    calls: readonly Points[],
    besides: readonly (readonly Value[])[],
    functions: readonly ReturnType<typeof rowFunction>[],
  ): Steps<Rows> {
    const { fill } = this.#select;
    const slots: Value[] = new Array(calls.length + besides.length).fill(null);
    const empty = this.#select.calls.map(({ name, type }) =>
      fill.kind === 'number' ? fillNumber(fill.value, name === 'count' ? 'integer' : type) : null,
    );
    const positions = calls.map(() => 0);
    const times: bigint[] = [];
    const columns: Value[][] = functions.map(() => []);
    const isBackward = this.#isBackward;
    for (;;) {
      if (isStepEnd(times.length)) yield;
      let time: bigint | undefined;
      for (let i = 0; i < calls.length; i++) {
        const next = calls[i]?.times[positions[i] as number];
        if (next === undefined) continue;
        if (time === undefined || (isBackward ? next > time : next < time)) time = next;
      }
      if (time === undefined) return { times, columns };
      for (let i = 0; i < calls.length; i++) {
        const position = positions[i] as number;
        const points = calls[i] as Points;
        if (points.times[position] === time) {
          slots[i] =
            points.values[position] ??
            (fill.kind === 'number' && this.#windows !== undefined ? (empty[i] ?? null) : null);
          for (let b = 0; b < besides.length; b++)
            slots[calls.length + b] =
              besides[b]?.[position] ?? this.#filledBeside(b, slots[calls.length + b] ?? null);
          positions[i] = position + 1;
        } else if (fill.kind !== 'previous') slots[i] = empty[i] ?? null;
      }
      times.push(time);
      for (let f = 0; f < functions.length; f++)
        columns[f]?.push(functions[f]?.(slots, time) ?? null);
    }
  }
}

interface Rows {
  readonly times: readonly bigint[];
  readonly columns: readonly (readonly Value[])[];
}

function reversed({ times, columns }: Rows): Rows {
  return { times: times.toReversed(), columns: columns.map((column) => column.toReversed()) };
}

function reversedPoints({ times, values, beside }: Points): Points {
  return {
    times: times.toReversed(),
    values: values.toReversed(),
    ...(beside !== undefined && { beside: beside.map((column) => column.toReversed()) }),
  };
}

/** A subquery within another range than that of the statement around it; its own bounds stay. */
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

/** Empty buckets of these stay empty. */
const UNFILLED: ReadonlySet<string> = new Set(['top', 'bottom', 'sample', 'distinct', 'integral']);

function planCall(call: CompiledCall, canGroup: boolean): CallPlan {
  const around: CompiledCall[] = [];
  let leaf = call;
  let lookBack = 0;
  for (;;) {
    const isAround = TRANSFORMATIONS.has(leaf.name) || FORECASTS.has(leaf.name);
    if (!isAround) break;
    around.unshift(leaf);
    if (leaf.argument.kind === 'column') {
      const { ref } = leaf.argument;
      return { call, leaf, ofColumn: ref, around, lookBack: 0, isInEngine: false };
    }
    if (LOOK_BACK.has(leaf.name)) lookBack++;
    leaf = leaf.argument.call;
  }
  return {
    call,
    leaf,
    ofColumn: undefined,
    around,
    lookBack,
    isInEngine: canGroup && isEngineCall(leaf),
  };
}

function leafRefs(leaf: CompiledCall): ColumnRef[] {
  const { argument } = leaf;
  const refs = argument.kind === 'column' ? [argument.ref] : leafRefs(argument.call);
  return [...refs, ...leaf.dimensions];
}

const refKey = (ref: ColumnRef): string => `${ref.isTag ? 't' : 'f'}${ref.type}\0${ref.name}`;

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

/** Groups of several readings, in ascending order; `points` are in the order of the statement's calls. */
async function* mergedGroups(
  readings: readonly Reading[],
  order: readonly CallPlan[],
): AsyncGenerator<CallGroup> {
  const places = new Map(order.map((plan, i) => [plan, i]));
  const heads: (CallGroup | undefined)[] = [];
  const advance = async (i: number): Promise<void> => {
    const next = await readings[i]?.groups.next();
    heads[i] = next?.done ? undefined : next?.value;
  };
  try {
    for (let i = 0; i < readings.length; i++) await advance(i);
    for (;;) {
      let tags: readonly string[] | undefined;
      for (const head of heads) {
        if (head !== undefined && (tags === undefined || compareTags(head.tags, tags) < 0))
          tags = head.tags;
      }
      if (tags === undefined) return;
      const points = new Map<number, Points>();
      for (let i = 0; i < readings.length; i++) {
        const head = heads[i];
        if (head === undefined || compareTags(head.tags, tags) !== 0) continue;
        readings[i]?.plans.forEach((plan, p) => {
          points.set(places.get(plan) ?? 0, head.points[p] ?? NO_POINTS);
        });
        await advance(i);
      }
      yield { tags, points: order.map((_, i) => points.get(i) ?? NO_POINTS) };
    }
  } finally {
    for (const { groups } of readings) await groups.return?.();
  }
}
