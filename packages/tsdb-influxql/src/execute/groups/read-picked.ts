import { AGGREGATES } from '../../functions/aggregates.js';
import type { ColumnRef, CompiledCall } from '../../plan/compile/compiled-select.js';
import type { Value } from '../../plan/data-type.js';
import { outputColumn, sqlTypeOf, type TableRange, TableReader } from '../series/table-reader.js';
import type { Session } from '../session.js';
import type { TimeBuckets } from '../time-buckets/time-buckets.js';
import { bucketText } from './bucket-text.js';
import { type CallGroup, isDuckDbCall } from './read-aggregates.js';

export interface PickRequest extends TableRange {
  /** `min`, `max`, `first` or `last` of a column. */
  readonly call: CompiledCall;
  readonly otherColumns: readonly ColumnRef[];
  readonly timeBuckets: TimeBuckets | undefined;
  readonly hasLowerBound: boolean;
}

export const isPicked = (call: CompiledCall): boolean =>
  isDuckDbCall(call) && AGGREGATES.get(call.name)?.best !== undefined;

/** Reads the points that a selector returns, with their own times and the additional columns. */
export async function* readPicked(
  request: PickRequest,
  session: Session,
): AsyncGenerator<CallGroup, void, undefined> {
  const { call, timeBuckets, otherColumns } = request;
  const { argument, name } = call;
  if (argument.kind !== 'column') return;
  const reader = new TableReader(request, session);
  const groups = reader.groups;
  const x = reader.column(argument.ref);
  const bucket =
    timeBuckets === undefined ? undefined : bucketText(request, timeBuckets, reader.time);
  const keys = [...groups.map((_, i) => `g${i}`), ...(bucket === undefined ? [] : ['b'])];
  const rows = [
    ...groups.map((text, i) => `${text} AS g${i}`),
    ...(bucket === undefined ? [] : [`${bucket.text} AS b`]),
    `${reader.time} AS t`,
    `${x} AS x`,
    ...otherColumns.map((ref, i) => `${reader.column(ref)} AS a${i}`),
  ].join(', ');
  const where = reader.where([`${x} IS NOT NULL`]);
  const { best = 'min(x)' } = AGGREGATES.get(name) ?? {}; // see `isPicked`
  const isByValue = best.endsWith('(x)');
  const matched = [
    isByValue ? 'p.x = m.m' : 'p.t = m.m',
    ...keys.map((key) => `p.${key} = m.${key}`),
  ].join(' AND ');
  // Ties between equal values go to the earliest point; ties between equal times go to the greatest
  // value.
  const pick = isByValue ? 'arg_min' : 'arg_max';
  const decided = isByValue ? 'p.t' : 'p.x';
  const packed = ['t := p.t', 'x := p.x', ...otherColumns.map((_, i) => `a${i} := p.a${i}`)].join(
    ', ',
  );
  const keyList = keys.map((key) => `p.${key}`);
  const groupedBest = keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`;
  const grouped =
    keys.length === 0 ? '' : ` GROUP BY ${keyList.join(', ')} ORDER BY ${keyList.join(', ')}`;
  const scan = reader.scan();
  const fields = [
    { name: 't', type: sqlTypeOf('time') },
    { name: 'x', type: sqlTypeOf(argument.ref.type) },
    ...otherColumns.map((ref, i) => ({ name: `a${i}`, type: sqlTypeOf(ref.type) })),
  ];
  const chunks = session.read({
    scans: [scan],
    columns: [
      ...groups.map((_, i) => outputColumn(`g${i}`, 'tag')),
      ...(bucket === undefined ? [] : [bucket.column]),
      { name: 'p', type: { kind: 'struct', fields }, tableColumnKind: undefined },
    ],
    mayMaterialize: true,
    groupTags: request.groupTags,
    bucketNs: timeBuckets?.everyNs,
    get maxRows() {
      return reader.mostGroups;
    },
    render: (scanText) =>
      `WITH p AS (SELECT ${rows} FROM ${scanText(0)} r${where}), ` +
      `m AS (SELECT ${[...keys, `${best} AS m`].join(', ')} FROM p${groupedBest}) ` +
      `SELECT ${[...keyList, `${pick}(struct_pack(${packed}), ${decided}) AS p`].join(', ')} ` +
      `FROM p JOIN m ON ${matched}${grouped}`,
  });
  let tags: string[] | undefined;
  let points: { times: bigint[]; values: Value[]; otherColumns: Value[][] } | undefined;
  for await (const { rowCount, columns } of chunks) {
    const tagValues = columns
      .slice(0, groups.length)
      .map(({ values }) => values as ArrayLike<string>);
    const starts = columns[groups.length]?.values as ArrayLike<bigint | number>; // read only if there are buckets
    const picked = columns[keys.length]?.values as ArrayLike<Readonly<
      Record<string, Value>
    > | null>;
    for (let row = 0; row < rowCount; row++) {
      const point = picked[row];
      if (point === null || point === undefined) continue;
      if (tags === undefined || !tags.every((tag, i) => tagValues[i]?.[row] === tag)) {
        if (tags !== undefined && points !== undefined) yield { tags, points: [points] };
        tags = tagValues.map((values) => values[row] as string);
        points = { times: [], values: [], otherColumns: otherColumns.map(() => []) };
      }
      points?.times.push(
        bucket === undefined
          ? (point['t'] as bigint)
          : bucket.startOf(starts[row] as bigint | number),
      );
      points?.values.push(point['x'] ?? null);
      otherColumns.forEach((_, i) => {
        points?.otherColumns[i]?.push(point[`a${i}`] ?? null);
      });
    }
  }
  if (tags !== undefined && points !== undefined) yield { tags, points: [points] };
}
