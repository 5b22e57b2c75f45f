import { compareTimes } from '@plinth/tsdb-model/time/calendar.js';
import { indices, inOrder, sorted, TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import {
  type ColumnRef,
  type CompiledSelect,
  type CompiledSource,
  refKey,
} from '../../plan/compile/compiled-select.js';
import type { SourceColumns } from '../../plan/compile/source.js';
import { columnsOf, typeOutside } from '../../plan/compile/source-columns.js';
import { buildFilter, filterColumns } from '../../plan/condition/filter.js';
import { convertValue, isConvertible, type Value } from '../../plan/data-type.js';
import type { Session } from '../session.js';
import { ValueBudget } from '../value-budget.js';
import { type RowPiece, type RowRequest, readRows } from './read-rows.js';
import { rowPredicate } from './row-expr.js';
import { compareTags, type Series } from './series.js';
import { exactValue } from './vector-values.js';

export interface SourceRowsRequest {
  readonly select: CompiledSelect;
  readonly sources: readonly CompiledSource[];
  readonly refs: readonly ColumnRef[];
  readonly requiredColumns: readonly ColumnRef[];
  readonly minNs: bigint;
  readonly isDescending: boolean;
  readonly rowLimit: number | undefined;
  readonly limitsTimes?: boolean;
  readonly lastRowsOnly: boolean;
}

/**
 * Reads rows of all sources with one name, by group in ascending order, sorted by time within a
 * group.
 */
export async function* sourceRows(
  request: SourceRowsRequest,
  session: Session,
): AsyncGenerator<RowPiece, void, undefined> {
  const [only] = request.sources;
  if (request.sources.length === 1 && only?.kind === 'table') {
    yield* readRows(tableRequest(request, only), session);
    return;
  }
  const groups = new Groups(request, session);
  const task = new TimeSlicedTask(session);
  for (const source of request.sources) {
    if (source.kind === 'table') {
      for await (const piece of readRows(tableRequest(request, source), session)) {
        await task.yieldIfDue();
        for (let row = 0; row < piece.times.length; row++) {
          groups.add(
            piece.tags,
            piece.times[row] as bigint,
            piece.columns.map((column, i) => heldValue(column[row] ?? null, request.refs[i])),
          );
        }
      }
    } else await addSubquery(groups, request, source.select, session, task);
  }
  yield* groups.sorted(task);
}

export function tableRequest(
  request: Omit<SourceRowsRequest, 'sources'>,
  source: Extract<CompiledSource, { kind: 'table' }>,
): RowRequest {
  const { condition, maxNs, groupTags } = request.select;
  return {
    source,
    filter: condition === undefined ? undefined : buildFilter(condition, columnsOf(source)),
    minNs: request.minNs,
    maxNs,
    groupTags,
    refs: request.refs,
    requiredColumns: request.requiredColumns,
    isDescending: request.isDescending,
    rowLimit: request.rowLimit,
    limitsTimes: request.limitsTimes ?? false,
    lastRowsOnly: request.lastRowsOnly,
  };
}

async function addSubquery(
  groups: Groups,
  request: SourceRowsRequest,
  inner: CompiledSelect,
  session: Session,
  task: TimeSlicedTask,
): Promise<void> {
  const { condition, groupTags } = request.select;
  const columns = columnsOfCompiled(inner);
  const filter = condition === undefined ? undefined : buildFilter(condition, columns);
  const refs = [...request.refs, ...(filter === undefined ? [] : filterColumns(filter))];
  const readers = refs.map((ref) => innerReader(ref, inner));
  const places = new Map(refs.map((ref, i) => [refKey(ref), i]));
  const isMet =
    filter === undefined ? undefined : rowPredicate(filter, (ref) => places.get(refKey(ref)) ?? -1);
  const tagPlaces = groupTags.map((tag) => inner.groupTags.indexOf(tag));
  for await (const series of session.select(inner)) {
    await task.yieldIfDue();
    const tags = tagPlaces.map((place) => series.tags[place] ?? '');
    for (let row = 0; row < series.times.length; row++) {
      // A regular expression may take a millisecond per row.
      if (task.isYieldDue) await task.yieldIfDue();
      const time = series.times[row] as bigint; // row is below the length
      const values = readers.map((read) => read(series, row));
      if (isMet !== undefined && !isMet(values, time)) continue;
      groups.add(tags, time, values.slice(0, request.refs.length));
    }
  }
}

function columnsOfCompiled(select: CompiledSelect): SourceColumns {
  const fields = new Map<string, ColumnRef['type']>();
  for (const { name, type } of select.fields) {
    if (!fields.has(name)) fields.set(name, typeOutside(type));
  }
  return { fields, tags: new Set(select.groupTags) };
}

function innerReader(
  ref: ColumnRef,
  inner: CompiledSelect,
): (series: Series, row: number) => Value {
  const field = inner.fields.findIndex(({ name }) => name === ref.name);
  const tag = inner.groupTags.indexOf(ref.name);
  if (field >= 0 && !(ref.isTag && tag >= 0 && inner.fields[field]?.type !== 'tag')) {
    const from = typeOutside(inner.fields[field]?.type ?? 'unknown');
    if (from === typeOutside(ref.type)) {
      return (series, row) => heldValue(series.columns[field]?.[row] ?? null, ref);
    }
    if (!isConvertible(from, ref.type)) return () => null;
    return (series, row) => convertValue(series.columns[field]?.[row] ?? null, ref.type);
  }
  if (tag >= 0 && (ref.isTag || ref.type === 'string')) return (series) => series.tags[tag] || null;
  return () => null;
}

const heldValue = (value: Value, ref: ColumnRef | undefined): Value =>
  ref?.type === 'integer' || ref?.type === 'unsigned' ? exactValue(value) : value;

interface HeldGroup {
  readonly tags: readonly string[];
  readonly times: bigint[];
  readonly columns: Value[][];
  isOrdered: boolean;
}

/** Buffers rows in memory by group. */
class Groups {
  readonly #request: SourceRowsRequest;
  readonly #budget: ValueBudget;
  readonly #groups = new Map<string, HeldGroup>();

  constructor(request: SourceRowsRequest, session: Session) {
    this.#request = request;
    this.#budget = new ValueBudget(session);
  }

  add(tags: readonly string[], time: bigint, values: readonly Value[]): void {
    const key = tags.join('\0');
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { tags, times: [], columns: values.map(() => []), isOrdered: true };
      this.#groups.set(key, group);
    }
    this.#budget.add(values.length + 1);
    const before = group.times.at(-1);
    if (before !== undefined && time < before) group.isOrdered = false;
    group.times.push(time);
    for (let i = 0; i < values.length; i++) group.columns[i]?.push(values[i] ?? null);
  }

  async *sorted(task: TimeSlicedTask): AsyncGenerator<RowPiece, void, undefined> {
    const groups = await task.run(
      sorted([...this.#groups.values()], (a, b) => compareTags(a.tags, b.tags)),
    );
    for (const group of groups) {
      if (group.isOrdered && !this.#request.isDescending) {
        yield group;
        continue;
      }
      let order: readonly number[] = await task.run(indices(0, group.times.length));
      if (!group.isOrdered) {
        const byTime = (a: number, b: number): number =>
          compareTimes(group.times[a] as bigint, group.times[b] as bigint) || a - b;
        order = await task.run(sorted(order, byTime));
      }
      if (this.#request.isDescending) order = order.toReversed();
      yield {
        tags: group.tags,
        times: await task.run(inOrder(group.times, order, [])),
        columns: await this.#columns(group, order, task),
      };
    }
  }

  async #columns(
    { columns }: HeldGroup,
    order: readonly number[],
    task: TimeSlicedTask,
  ): Promise<Value[][]> {
    const ordered: Value[][] = [];
    for (const column of columns) ordered.push(await task.run(inOrder(column, order, [])));
    return ordered;
  }
}
