import type {
  ColumnQuery,
  GroupOutput,
  GroupsComputation,
} from '@plinth/tsdb-model/query/column-query.js';
import { AGGREGATES } from '../../functions/aggregates.js';
import type { CompiledCall } from '../../plan/compile/compiled-select.js';
import type { Value } from '../../plan/data-type.js';
import type { Points } from '../series/points.js';
import { outputColumn, type TableRange, TableReader } from '../series/table-reader.js';
import { tagTexts, vectorValues } from '../series/vector-values.js';
import type { Session } from '../session.js';
import type { TimeBuckets } from '../time-buckets/time-buckets.js';
import { bucketText } from './bucket-text.js';

/** One group with the points of each call. Buckets without a value are omitted. */
export interface CallGroup {
  readonly tags: readonly string[];
  readonly points: readonly Points[];
}

/** Returns whether DuckDB can compute a call. */
export function isDuckDbCall(call: CompiledCall): boolean {
  if (call.type === 'unknown') return false;
  if (call.argument.kind === 'column')
    return AGGREGATES.get(call.name)?.text !== undefined && !call.argument.ref.isTag;
  return isCountOfDistinct(call);
}

function isCountOfDistinct({ name, argument }: CompiledCall): boolean {
  return name === 'count' && argument.kind === 'call' && argument.call.name === 'distinct';
}

export interface AggregateRequest extends TableRange {
  readonly calls: readonly CompiledCall[];
  /** Buckets of equal length; without them each group is one bucket at `baseNs`. */
  readonly timeBuckets: TimeBuckets | undefined;
  readonly baseNs: bigint;
  readonly hasLowerBound: boolean;
}

/** Reads aggregates of a table, with groups and buckets in ascending order. */
export async function* readAggregates(
  request: AggregateRequest,
  session: Session,
): AsyncGenerator<CallGroup, void, undefined> {
  const reader = new TableReader(request, session);
  const groups = reader.groups;
  const { timeBuckets } = request;
  const columnQuery = reader.columnQuery(groupsComputation(request, reader));
  // Column queries return bucket starts, not bucket numbers.
  const bucketed = columnQuery === undefined ? request : { ...request, hasLowerBound: false };
  const bucket =
    timeBuckets === undefined ? undefined : bucketText(bucketed, timeBuckets, reader.time);
  const keyCount = groups.length + (bucket === undefined ? 0 : 1);
  // Most statements are served from memory, so the DuckDB SQL is created lazily.
  let built: ReturnType<typeof aggregateStatement> | undefined;
  const statement = () => {
    built ??= aggregateStatement(request.calls, { reader, groups, bucket: bucket?.text });
    return built;
  };
  const chunks = session.read({
    get scans() {
      return [statement().scan];
    },
    columns: [
      ...groups.map((_, i) => outputColumn(`g${i}`, 'tag')),
      ...(bucket === undefined ? [] : [bucket.column]),
      ...request.calls.map((call, i) => outputColumn(`v${i}`, call.type)),
    ],
    mayMaterialize: true,
    groupTags: request.groupTags,
    bucketNs: timeBuckets?.everyNs,
    get maxRows() {
      return reader.mostGroups;
    },
    render: (scanText) => statement().textOver(scanText(0)),
    columnQuery,
  });
  const collector = new Collector(request.calls);
  for await (const { rowCount, columns } of chunks) {
    const tagValues = columns.slice(0, groups.length).map((vector) => tagTexts(vector, rowCount));
    const starts =
      bucket === undefined
        ? undefined
        : (columns[groups.length]?.values as ArrayLike<bigint | number>); // never NULL
    const first = keyCount;
    const callValues = request.calls.map((call, i) =>
      vectorValues(columns[first + i] as (typeof columns)[number], rowCount, call.type),
    );
    for (let row = 0; row < rowCount; row++) {
      const finished = collector.enter(tagValues, row);
      if (finished !== undefined) yield finished;
      const time =
        starts === undefined || bucket === undefined
          ? request.baseNs
          : bucket.startOf(starts[row] as bigint | number);
      collector.add(time, callValues, row);
    }
  }
  const rest = collector.finish();
  if (rest !== undefined) yield rest;
}

/** Returns the DuckDB SQL and the scan it needs. */
function aggregateStatement(
  calls: readonly CompiledCall[],
  options: {
    readonly reader: TableReader;
    readonly groups: readonly string[];
    readonly bucket: string | undefined;
  },
) {
  const { reader, groups, bucket } = options;
  const keys = [...groups, ...(bucket === undefined ? [] : [bucket])];
  const list = [
    ...groups.map((text, i) => `${text} AS g${i}`),
    ...(bucket === undefined ? [] : [`${bucket} AS b`]),
    ...calls.map((call, i) => `${aggregateText(call, reader)} AS v${i}`),
  ].join(', ');
  const where = reader.where();
  // Keys are referenced by position, because user columns may have any name.
  const positions = keys.map((_, i) => i + 1).join(', ');
  const grouping = keys.length === 0 ? '' : ` GROUP BY ${positions} ORDER BY ${positions}`;
  return {
    scan: reader.scan(),
    textOver: (source: string): string => `SELECT ${list} FROM ${source} r${where}${grouping}`,
  };
}

function aggregateText({ name, argument }: CompiledCall, reader: TableReader): string {
  const inner = argument.kind === 'call' ? argument.call.argument : argument;
  if (inner.kind !== 'column') return 'NULL';
  const x = reader.column(inner.ref);
  if (argument.kind === 'call') return `count(DISTINCT ${x})`;
  const { time, isGroupedBySeries } = reader;
  const column = { x, time, type: inner.ref.type, isOneSeries: isGroupedBySeries };
  return AGGREGATES.get(name)?.text?.(column) ?? 'NULL';
}

/**
 * Returns the equivalent column query, or `undefined` if a function or the condition is not
 * supported there.
 */
export function aggregateColumnQuery(
  request: AggregateRequest,
  session: Session,
): ColumnQuery | undefined {
  const reader = new TableReader(request, session);
  return reader.columnQuery(groupsComputation(request, reader));
}

/** Returns the grouping of a column query, or `undefined` if a function is not supported there. */
function groupsComputation(
  request: AggregateRequest,
  reader: TableReader,
): GroupsComputation | undefined {
  const { timeBuckets, groupTags, source } = request;
  const outputs: GroupOutput[] = [];
  for (const tag of groupTags) {
    if (source.table.columns.get(tag)?.kind !== 'tag') return undefined;
    outputs.push({ kind: 'tag', tag });
  }
  if (timeBuckets !== undefined) outputs.push({ kind: 'bucket' });
  for (const { name, argument } of request.calls) {
    const column = argument.kind === 'column' ? reader.plainColumn(argument.ref) : undefined;
    // Sums of integers wrap at 64 bits; column queries sum only integers whose sum cannot come
    // close to that limit.
    const kind = AGGREGATES.get(name)?.measure;
    if (column === undefined || kind === undefined) return undefined;
    outputs.push({ kind, column });
  }
  const ascending = { descending: false, nullsFirst: true } as const;
  const order = [
    ...groupTags.map((tag) => ({ key: { kind: 'tag', tag } as const, ...ascending })),
    ...(timeBuckets === undefined ? [] : [{ key: { kind: 'bucket' } as const, ...ascending }]),
  ];
  const bucket =
    timeBuckets === undefined
      ? undefined
      : { widthNs: timeBuckets.everyNs, originNs: timeBuckets.offsetNs };
  return { kind: 'groups', bucket, tags: groupTags, outputs, order, limit: undefined, offset: 0 };
}

/** Collects rows into groups. */
class Collector {
  readonly #calls: readonly CompiledCall[];
  #tags: string[] | undefined;
  #times: bigint[][] = [];
  #values: Value[][] = [];

  constructor(calls: readonly CompiledCall[]) {
    this.#calls = calls;
  }

  /** @returns the previous group if this row starts another one */
  enter(tagValues: readonly ArrayLike<string>[], row: number): CallGroup | undefined {
    const tags = this.#tags;
    if (tags?.every((tag, i) => tagValues[i]?.[row] === tag)) return undefined;
    const finished = this.finish();
    this.#tags = tagValues.map((values) => values[row] as string); // as many rows as the chunk
    this.#times = this.#calls.map(() => []);
    this.#values = this.#calls.map(() => []);
    return finished;
  }

  add(time: bigint, callValues: readonly ArrayLike<Value>[], row: number): void {
    for (let i = 0; i < callValues.length; i++) {
      const value = inType(callValues[i]?.[row] ?? null, this.#calls[i]?.type);
      // A count of 0 does not produce a point.
      if (value === null || (value === 0n && this.#calls[i]?.name === 'count')) continue;
      (this.#times[i] as bigint[]).push(time); // one array per call
      (this.#values[i] as Value[]).push(Number.isNaN(value) ? null : value);
    }
  }

  finish(): CallGroup | undefined {
    if (this.#tags === undefined) return undefined;
    return {
      tags: this.#tags,
      points: this.#calls.map((_, i) => ({
        times: this.#times[i] ?? [],
        values: this.#values[i] ?? [],
      })),
    };
  }
}

/** Converts integers that a column query returned as doubles back to their type. */
function inType(value: Value, type: CompiledCall['type'] | undefined): Value {
  const isWhole = type === 'integer' || type === 'unsigned';
  return isWhole && typeof value === 'number' ? BigInt(value) : value;
}
