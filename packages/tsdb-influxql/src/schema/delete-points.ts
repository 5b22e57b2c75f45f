import type { Engine } from '@plinth/tsdb-model/engine.js';
import type { SeriesPoint } from '@plinth/tsdb-model/scan.js';
import { outputColumn, TableReader } from '../execute/series/table-reader.js';
import type { Session } from '../execute/session.js';
import type { TableSource } from '../plan/compile/source.js';
import { type Filter, filterColumns } from '../plan/condition/filter.js';

/**
 * Returns whether a deletion with this condition must read the rows, because it depends on their
 * values.
 */
export const readsFields = (filter: Filter): boolean =>
  filterColumns(filter).some(({ isTag }) => !isTag);

/**
 * Finds the points of a table that meet a condition, and deletes exactly these points, or only
 * their `fields`.
 */
export async function deletePoints(
  source: TableSource,
  where: {
    readonly filter: Filter;
    readonly minNs: bigint;
    readonly maxNs: bigint;
    readonly fields: readonly string[] | undefined;
  },
  { session, engine }: { readonly session: Session; readonly engine: Engine },
): Promise<void> {
  await engine.deletePoints({
    database: source.database.name,
    table: source.name,
    fields: where.fields,
    find: async ({ onSnapshot, maxPoints }) => {
      const reader = new TableReader({ source, ...where, groupTags: [] }, session);
      const condition = reader.where();
      const { time } = reader;
      const points: SeriesPoint[] = [];
      for await (const { rowCount, columns } of session.read({
        scans: [{ ...reader.scan(), withSeries: true, onSnapshot }],
        columns: [outputColumn('series', 'integer'), outputColumn('time', 'integer')],
        mayMaterialize: true,
        render: (scanText) =>
          `SELECT r._series AS g0, epoch_ns(${time}) AS g1 FROM ${scanText(0)} r${condition} LIMIT ${maxPoints + 1}`,
      })) {
        // The only columns, which are never NULL.
        const [series, times] = columns.map(({ values }) => values as BigInt64Array) as [
          BigInt64Array,
          BigInt64Array,
        ];
        for (let row = 0; row < rowCount; row++)
          points.push({ seriesId: series[row] as bigint, timeNs: times[row] as bigint });
      }
      return points;
    },
  });
}
