import type { DirectRequest } from '../../../model/direct-request.js';
import type { ColumnVector } from '../../../model/result.js';
import type { ColumnRef } from '../plan/compiled-select.js';
import type { Value } from '../plan/data-type.js';
import type { GroupRows } from './points.js';
import { LazyBlock, type SeriesBlock, type SeriesSpan } from './series.js';
import type { Session } from './session.js';
import { outputColumn, type TableRange, TableReader } from './table-reader.js';
import { sliceOf, tagTexts, vectorValues } from './vector-values.js';

/** Rows of one group; a group may come in several pieces, one after the other. */
export interface RowPiece extends GroupRows {
  /** Values of the grouping tags. */
  readonly tags: readonly string[];
}

export interface RowRequest extends TableRange {
  readonly refs: readonly ColumnRef[];
  /** A row that has none of these does not count; empty: every row counts. */
  readonly wanted: readonly ColumnRef[];
  readonly isDescending: boolean;
  /** Rows of each group, from its beginning. */
  readonly rowLimit: number | undefined;
  /** Of each series only the last row matters. */
  readonly lastRowsOnly: boolean;
}

/** Rows of a table, group by group in ascending order, each by time. */
export async function* readRows(
  request: RowRequest,
  session: Session,
): AsyncGenerator<RowPiece, void, undefined> {
  for await (const { times, columns, spans } of readRowBlocks(request, session)) {
    for (const { tags, from, to } of spans) {
      yield {
        tags,
        times: sliceOf(times, from, to),
        columns: columns.map((column): ArrayLike<Value> => sliceOf(column, from, to)),
      };
    }
  }
}

/** The same, as many groups at a time as come together. */
export async function* readRowBlocks(
  request: RowRequest,
  session: Session,
): AsyncGenerator<SeriesBlock, void, undefined> {
  const reader = new TableReader(request, session);
  const groups = reader.groups;
  const columns = request.refs.map((ref) => reader.column(ref));
  const wanted = request.wanted.map((ref) => `${reader.column(ref)} IS NOT NULL`);
  const where = reader.where(wanted.length === 0 ? [] : [`(${wanted.join(' OR ')})`]);
  const direction = request.isDescending ? ' DESC' : '';
  const rowOrder = [
    `${reader.time}${direction}`,
    ...reader.tieBreakers.map((tag) => `${tag}${direction}`),
  ];
  const order = [...groups.map((_, i) => i + 1), ...rowOrder].join(', ');
  const list = [
    ...groups.map((text, i) => `${text} AS g${i}`),
    `${reader.time} AS t`,
    ...columns.map((text, i) => `${text} AS c${i}`),
  ].join(', ');
  const partition = groups.length === 0 ? '' : `PARTITION BY ${groups.join(', ')} `;
  const limit =
    request.rowLimit === undefined ? '' : groups.length === 0 ? ` LIMIT ${request.rowLimit}` : '';
  const qualify =
    request.rowLimit === undefined || groups.length === 0 || request.lastRowsOnly
      ? ''
      : ` QUALIFY row_number() OVER (${partition}ORDER BY ${rowOrder.join(', ')}) <= ${request.rowLimit}`;
  const scan = reader.scan(request.lastRowsOnly);
  const chunks = session.read({
    scans: [scan],
    columns: [
      ...groups.map((_, i) => outputColumn(`g${i}`, 'string')),
      outputColumn('t', 'time'),
      ...request.refs.map((ref, i) => outputColumn(`c${i}`, ref.type)),
    ],
    isSmall: request.rowLimit !== undefined && request.rowLimit <= 10_000 && groups.length === 0,
    render: (scanText) =>
      `SELECT ${list} FROM ${scanText(0)} r${where}${qualify} ORDER BY ${order}${limit}`,
    direct: reader.direct(directRows(request, reader)),
  });
  for await (const { rowCount, columns: vectors, series } of chunks) {
    const isGrouped = groups.length > 0;
    // In memory, the last row of a group is all that is found of it.
    const areSpansWhole = isGrouped && request.lastRowsOnly && series !== undefined;
    const keys = vectors.slice(0, groups.length).map((vector) => tagTexts(vector, rowCount));
    const times = vectors[groups.length]?.values as BigInt64Array; // the time column is never NULL
    const read = vectors.slice(groups.length + 1);
    const spans: SeriesSpan[] = [];
    for (let from = 0; from < rowCount; ) {
      let to = from + 1;
      if (!isGrouped) to = rowCount;
      else if (!areSpansWhole) while (to < rowCount && isSameKey(keys, from, to)) to++;
      spans.push({ tags: keys.map((key) => key[from] as string), from, to });
      from = to;
    }
    // A vector for each reference was asked for.
    const values = (): readonly ArrayLike<Value>[] =>
      request.refs.map(({ type }, i) => vectorValues(read[i] as ColumnVector, rowCount, type));
    yield new LazyBlock({ name: '', times, spans, series, areSpansWhole, vectors: read }, values);
  }
}

function isSameKey(keys: readonly ArrayLike<string>[], a: number, b: number): boolean {
  for (const key of keys) if (key[a] !== key[b]) return false;
  return true;
}

/** The same for rows in memory: the last ones of series, or all of one group. */
function directRows(request: RowRequest, reader: TableReader): DirectRequest['answer'] | undefined {
  const { groupTags, isDescending } = request;
  if (!hasEveryField(request)) return undefined;
  const refs: ColumnRef[] = [
    ...groupTags.map((name): ColumnRef => ({ name, type: 'tag', isTag: true })),
    { name: 'time', type: 'time', isTag: false },
    ...request.refs,
  ];
  const columns = refs.flatMap((ref) => reader.plainColumn(ref) ?? []);
  if (columns.length !== refs.length) return undefined;
  if (request.lastRowsOnly) {
    const by = groupTags.map((tag) => ({
      key: { kind: 'tag' as const, tag },
      descending: false,
      nullsFirst: true,
    }));
    return groupTags.length === 0 ? undefined : { kind: 'last', columns, by };
  }
  if (groupTags.length > 0) return undefined;
  return {
    kind: 'rows',
    columns,
    tieBreakers: reader.tieBreakerTags,
    descending: isDescending,
    limit: request.rowLimit,
    offset: 0,
  };
}

/** Every row has one of the wanted fields: no condition is needed for that. */
function hasEveryField({ source, wanted }: RowRequest): boolean {
  const names = new Set(wanted.map(({ name }) => name));
  return [...source.table.columns.values()].every(
    ({ kind, name }) => kind === 'tag' || kind === 'time' || names.has(name),
  );
}
