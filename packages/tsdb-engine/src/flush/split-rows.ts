import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import { quoteName } from '@plinth/tsdb-model/text/quote.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { type DeletionSql, deletedSeries, deletionSql } from '../scan/deletion-sql.js';
import { latestValues, orderColumns, samePointCondition } from '../scan/latest-values.js';
import { type Source, timeCondition, valueText } from '../scan/sources.js';
import type { GenerationTable } from '../table/generation-table.js';
import type { TableStore } from '../table/table-store.js';
import type { Tombstone } from '../table/tombstones.js';

/** Rows of a generation that go to segments of one kind. */
export interface SegmentRows {
  readonly kind: Segment['kind'];
  /** SQL text for FROM with `_series, "time"`, the columns, and `_seq` in overlays. */
  readonly rows: string;
  /** The row count, if it is known because every row is written. */
  readonly rowCount?: number;
  drop(): Promise<void>;
}

const NOTHING_TO_DROP = async (): Promise<void> => undefined;

interface SplitRequest {
  readonly store: TableStore;
  readonly table: GenerationTable;
  readonly columns: readonly Column[];
  readonly duckDb: DuckDbHost;
  readonly tombstones: readonly Tombstone[];
}

/**
 * Divides the rows of a generation by the kind of their segment. Points written more than once are
 * merged; those that also exist in older segments go to overlays.
 */
export async function splitRows(request: SplitRequest): Promise<readonly SegmentRows[]> {
  const { store, table, columns, duckDb, tombstones } = request;
  const series = await new TimeSlicedTask().run(deletedSeries(tombstones, store.series));
  const deletionSqlOf = (source: Source): DeletionSql =>
    deletionSql(tombstones, series, {
      hasSeqColumn: true,
      fields: () => columns.filter(({ id }) => source.hasColumn(id)),
    });
  const all = allRows(table, columns, deletionSqlOf);
  const minTime = table.main.minTime < table.late.minTime ? table.main.minTime : table.late.minTime;
  const maxTime = table.main.maxTime > table.late.maxTime ? table.main.maxTime : table.late.maxTime;
  if (!store.repeated.keys.touches(minTime, maxTime)) {
    const sources = [table.mainSource(), table.lateSource()];
    const isComplete = sources.every((source) => deletionSqlOf(source).remainingRows === undefined);
    const known = isComplete ? { rowCount: table.rowCount } : {};
    return [{ kind: 'unique', rows: `(${all})`, ...known, drop: NOTHING_TO_DROP }];
  }
  const merged = quoteName(`${table.main.name}_merged`);
  const isInOlderSegment = inOlderSegmentText(store, minTime, maxTime);
  const create = mergeText(request, { all, isInOlderSegment });
  await duckDb.withWriter(async (connection) => {
    await connection.run(`DROP TABLE IF EXISTS ${merged}`);
    await connection.run(`CREATE TABLE ${merged} AS ${create}`);
  });
  const key = ['_series', '"time"', ...namesOf(columns)].join(', ');
  // Compared with the merged points, not with the current repeated points: a query may find more of them in the
  // meantime, which no segment would contain.
  const once = `SELECT ${key} FROM (${all}) a ANTI JOIN ${merged} d ON ${samePointCondition('a', 'd')}`;
  return [
    {
      kind: 'unique',
      rows: `(${once} UNION ALL SELECT ${key} FROM ${merged} WHERE NOT _seq_in_older_segment)`,
      drop: NOTHING_TO_DROP,
    },
    {
      kind: 'overlay',
      rows: `(SELECT ${key}, _seq FROM ${merged} WHERE _seq_in_older_segment)`,
      drop: () =>
        duckDb.withWriter(async (connection) => {
          await connection.run(`DROP TABLE IF EXISTS ${merged}`);
        }),
    },
  ];
}

const namesOf = (columns: readonly Column[]): readonly string[] =>
  columns.map((column) => quoteName(column.physicalName));

/** Returns SQL for all rows and values that are not deleted, with their order. */
function allRows(
  table: GenerationTable,
  columns: readonly Column[],
  deletionSqlOf: (source: Source) => DeletionSql,
): string {
  const select = (source: Source): string => {
    const { remainingRows, deletedValues } = deletionSqlOf(source);
    const where = remainingRows === undefined ? '' : ` WHERE ${remainingRows}`;
    const fields = columns.map((column) =>
      source.hasColumn(column.id)
        ? valueText(column, deletedValues)
        : `NULL AS ${quoteName(column.physicalName)}`,
    );
    const order = orderColumns({ ...source, hasSeq: true });
    const list = ['_series', '"time"', ...fields, ...order].join(', ');
    return `SELECT ${list} FROM ${source.from}${where}`;
  };
  return [
    ...(table.main.rowCount > 0 ? [select(table.mainSource())] : []),
    ...(table.late.rowCount > 0 ? [select(table.lateSource())] : []),
  ].join(' UNION ALL ');
}

/** Returns SQL for the points written more than once, each with its last values. */
function mergeText(
  { store, columns }: SplitRequest,
  { all, isInOlderSegment }: { readonly all: string; readonly isInOlderSegment: string },
): string {
  const latest = latestValues(namesOf(columns));
  const values = ['_series', '"time"', ...latest, 'max(_seq) AS _seq'].join(', ');
  const repeatedKeys = quoteName(store.repeated.keys.name);
  const points = `SELECT ${values} FROM (${all}) a SEMI JOIN ${repeatedKeys} d ON ${samePointCondition('a', 'd')} GROUP BY _series, "time"`;
  return `SELECT *, ${isInOlderSegment} AS _seq_in_older_segment FROM (${points}) m`;
}

/** Returns a condition on a point `m`: an older segment contains it. */
function inOlderSegmentText(store: TableStore, minTime: bigint, maxTime: bigint): string {
  const inTime = timeCondition(minTime, maxTime);
  const older = store
    .segmentSources(minTime, maxTime)
    .map((source) => `SELECT _series, "time" FROM ${source.from} WHERE ${inTime}`);
  return older.length === 0
    ? 'false'
    : `EXISTS (SELECT 1 FROM (${older.join(' UNION ALL ')}) o WHERE ${samePointCondition('o', 'm')})`;
}
