import type { ColumnVector, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { ColumnQuery } from '@plinth/tsdb-model/query/column-query.js';
import type { ColumnRef } from '../../plan/compile/compiled-select.js';
import type { Value } from '../../plan/data-type.js';
import type { Session } from '../session.js';
import type { GroupRows } from './points.js';
import { type RankedSeries, rankedSeries } from './ranked-series.js';
import { LazyBlock, type SeriesBlock, type SeriesSpan } from './series.js';
import { outputColumn, type TableRange, TableReader } from './table-reader.js';
import { sliceOf, tagTexts, vectorValues } from './vector-values.js';

/** Rows of one group. A group may arrive in several consecutive pieces. */
export interface RowPiece extends GroupRows {
  /** Values of the grouping tags. */
  readonly tags: readonly string[];
}

export interface RowRequest extends TableRange {
  readonly refs: readonly ColumnRef[];
  /** Rows without any of these columns are skipped. If empty, no row is skipped. */
  readonly requiredColumns: readonly ColumnRef[];
  readonly isDescending: boolean;
  /** Maximum number of rows per group, from its first row. */
  readonly rowLimit: number | undefined;
  /** `rowLimit` counts timestamps; all rows with the same timestamp are read. */
  readonly limitsTimes?: boolean;
  /** Only the last row of each series is needed. */
  readonly lastRowsOnly: boolean;
}

/** Reads rows of a table by group in ascending order, sorted by time within a group. */
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

/**
 * Like `readRows`, with many groups per block.
 * @param isColumnQueryTried the column query was already tried and is not supported.
 */
export async function* readRowBlocks(
  request: RowRequest,
  session: Session,
  isColumnQueryTried = false,
): AsyncGenerator<SeriesBlock, void, undefined> {
  const reader = new TableReader(request, session);
  // Most statements are served from memory, so the DuckDB SQL is created lazily.
  let built: ReturnType<typeof rowStatement> | undefined;
  const ranked = isOfWholeSeries(request) ? rankedSeries(request, reader, session) : undefined;
  const statement = () => {
    built ??=
      ranked === undefined
        ? rowStatement(request, reader)
        : rankedStatement(request, reader, ranked);
    return built;
  };
  const { groupTags, refs } = request;
  const rowLimit = hasTies(request, reader) ? undefined : request.rowLimit;
  const chunks = session.read({
    get scans() {
      return [statement().scan];
    },
    get columns() {
      return [
        ...(ranked === undefined
          ? groupTags.map((_, i) => outputColumn(`g${i}`, 'tag'))
          : [outputColumn('k', 'integer')]),
        outputColumn('t', 'time'),
        ...refs.map((ref, i) => outputColumn(`c${i}`, ref.type)),
      ];
    },
    mayMaterialize: rowLimit !== undefined && rowLimit <= 10_000 && groupTags.length === 0,
    get maxRows() {
      return rowLimit === undefined ? undefined : rowLimit * reader.mostGroups;
    },
    // Last rows cannot be read per time slice, because each slice has its own last rows.
    timeOrder: request.lastRowsOnly ? undefined : request.isDescending ? 'descending' : 'ascending',
    groupTags,
    render: (scanText) => statement().textOver(scanText(0)),
    columnQuery: isColumnQueryTried
      ? undefined
      : reader.columnQuery(rowsComputation(request, reader)),
  });
  for await (const chunk of chunks)
    yield ranked === undefined ? rowBlock(chunk, request) : rankedBlock(chunk, request, ranked);
}

/** Returns whether all rows of each series are read from a table with tags. */
const isOfWholeSeries = ({ groupTags, rowLimit, lastRowsOnly }: RowRequest): boolean =>
  groupTags.length > 0 && rowLimit === undefined && !lastRowsOnly;

/** Returns whether more rows than `rowLimit` may be read. */
function hasTies({ limitsTimes }: RowRequest, reader: TableReader): boolean {
  return limitsTimes === true && !reader.isGroupedBySeries;
}

/**
 * Returns the equivalent column query, or `undefined` if there is none.
 */
export function rowColumnQuery(request: RowRequest, session: Session): ColumnQuery | undefined {
  const reader = new TableReader(request, session);
  return reader.columnQuery(rowsComputation(request, reader));
}

/** Returns the DuckDB SQL and the scan that it reads. */
function rowStatement(request: RowRequest, reader: TableReader) {
  const { rowLimit } = request;
  const groups = reader.groups;
  const columns = request.refs.map((ref) => reader.column(ref));
  const where = whereText(request, reader);
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
  const ties = hasTies(request, reader);
  const limit = rowLimit === undefined || groups.length > 0 || ties ? '' : ` LIMIT ${rowLimit}`;
  const rank = ties
    ? `dense_rank() OVER (${partition}ORDER BY ${reader.time}${direction})`
    : `row_number() OVER (${partition}ORDER BY ${rowOrder.join(', ')})`;
  const qualify =
    rowLimit === undefined || (groups.length === 0 && !ties) || request.lastRowsOnly
      ? ''
      : ` QUALIFY ${rank} <= ${rowLimit}`;
  return {
    scan: reader.scan(request.lastRowsOnly),
    textOver: (source: string): string =>
      `SELECT ${list} FROM ${source} r${where}${qualify} ORDER BY ${order}${limit}`,
  };
}

function whereText({ requiredColumns }: RowRequest, reader: TableReader): string {
  const present = requiredColumns.map((ref) => `${reader.column(ref)} IS NOT NULL`);
  return reader.where(present.length === 0 ? [] : [`(${present.join(' OR ')})`]);
}

/** Like `rowStatement`, with the number of the series instead of its tags. */
function rankedStatement(
  request: RowRequest,
  reader: TableReader,
  { ids }: RankedSeries,
): ReturnType<typeof rowStatement> {
  const columns = request.refs.map((ref, i) => `, ${reader.column(ref)} AS c${i}`).join('');
  const where = whereText(request, reader);
  const { time } = reader;
  const series = `SELECT unnest([${ids.join(', ')}]::BIGINT[]) AS s, unnest(range(${ids.length})) AS k`;
  const order = `k, t${request.isDescending ? ' DESC' : ''}`;
  const scan = reader.scan();
  const { table } = request.source;
  // A large result is divided by the grouping tags of the scan. Time slices would each contain all series.
  const tags = request.groupTags.filter((tag) => table.columns.get(tag)?.kind === 'tag');
  return {
    scan: { ...scan, columns: [...new Set([...scan.columns, ...tags])], withSeries: true },
    textOver: (source) =>
      `SELECT k.k AS k, ${time} AS t${columns} FROM ${source} r JOIN (${series}) k ON k.s = r._series${where} ORDER BY ${order}`,
  };
}

/** Wraps a chunk as a block. Values are created on first access. */
export function rowBlock(chunk: ResultChunk, request: RowRequest): SeriesBlock {
  const { rowCount, columns: vectors, series } = chunk;
  const keyCount = request.groupTags.length;
  const isGrouped = keyCount > 0;
  // A column query of last rows returns exactly one row per group.
  const areSpansWhole = isGrouped && request.lastRowsOnly && series !== undefined;
  const keys = vectors.slice(0, keyCount).map((vector) => tagTexts(vector, rowCount));
  const times = vectors[keyCount]?.values as BigInt64Array; // the time column is never NULL
  const read = vectors.slice(keyCount + 1);
  const spans: SeriesSpan[] = [];
  for (let from = 0; from < rowCount; ) {
    let to = from + 1;
    if (!isGrouped) to = rowCount;
    else if (!areSpansWhole) while (to < rowCount && isSameKey(keys, from, to)) to++;
    spans.push({ tags: keys.map((key) => key[from] as string), from, to });
    from = to;
  }
  // The request names one vector per reference.
  const values = (): readonly ArrayLike<Value>[] =>
    request.refs.map(({ type }, i) => vectorValues(read[i] as ColumnVector, rowCount, type));
  const { name } = request.source;
  return new LazyBlock({ name, times, spans, series, areSpansWhole, vectors: read }, values);
}

/** Like `rowBlock`, for `rankedStatement`. */
function rankedBlock(
  { rowCount, columns: [ranks, times, ...vectors] }: ResultChunk,
  { refs, source: { name } }: RowRequest,
  ranked: RankedSeries,
): SeriesBlock {
  const numbers = ranks?.values as BigInt64Array; // the columns of the statement are never NULL
  const words = new Int32Array(numbers.buffer, numbers.byteOffset, 2 * rowCount);
  const spans: SeriesSpan[] = [];
  for (let from = 0; from < rowCount; ) {
    const rank = words[2 * from] as number;
    let to = from + 1;
    while (to < rowCount && words[2 * to] === rank) to++;
    spans.push({ tags: ranked.tags[rank] as readonly string[], from, to });
    from = to;
  }
  const values = (): readonly ArrayLike<Value>[] =>
    refs.map(({ type }, i) => vectorValues(vectors[i] as ColumnVector, rowCount, type));
  return new LazyBlock({ name, times: times?.values as BigInt64Array, spans, vectors }, values);
}

function isSameKey(keys: readonly ArrayLike<string>[], a: number, b: number): boolean {
  for (const key of keys) if (key[a] !== key[b]) return false;
  return true;
}

/** Returns the column query for the last rows of series, or for all rows of one group. */
function rowsComputation(
  request: RowRequest,
  reader: TableReader,
): ColumnQuery['computation'] | undefined {
  const { groupTags, isDescending } = request;
  if (!hasEveryField(request) || hasTies(request, reader)) return undefined;
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

/** Returns whether every row has one of the wanted fields, so that no condition is needed. */
function hasEveryField({ source, requiredColumns }: RowRequest): boolean {
  const names = new Set(requiredColumns.map(({ name }) => name));
  return [...source.table.columns.values()].every(
    ({ kind, name }) => kind === 'tag' || kind === 'time' || names.has(name),
  );
}
