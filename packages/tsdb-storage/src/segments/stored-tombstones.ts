import type { SeriesPoint, TagCondition } from '@plinth/tsdb-model/scan.js';

export interface TombstoneRow {
  id: string;
  table_id: number;
  seq: string;
  min_time: string;
  max_time: string;
  /** JSON; `null` represents an absent tag. */
  any_of: string;
  /** JSON: the series ids and timestamps of single points. */
  points: string | null;
  /** JSON: the ids of the fields whose values are deleted. */
  column_ids: string | null;
}

/** A deletion of rows; see `Tombstone` in the storage engine. */
export interface StoredTombstone {
  readonly id: string;
  readonly tableId: number;
  readonly seq: bigint;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  readonly anyOf: readonly (readonly TagCondition[])[];
  readonly points?: readonly SeriesPoint[] | undefined;
  readonly columnIds?: readonly number[] | undefined;
}

interface StoredCondition {
  readonly tag: string;
  readonly op: TagCondition['op'];
  readonly values: readonly (string | null)[];
}

export function toTombstone(row: TombstoneRow): StoredTombstone {
  const anyOf = JSON.parse(row.any_of) as readonly (readonly StoredCondition[])[]; // `fromTombstone` wrote this JSON
  return {
    id: row.id,
    tableId: Number(row.table_id),
    seq: BigInt(row.seq),
    minTimeNs: BigInt(row.min_time),
    maxTimeNs: BigInt(row.max_time),
    anyOf: anyOf.map((all) =>
      all.map(({ tag, op, values }) => ({ tag, op, values: values.map((v) => v ?? undefined) })),
    ),
    ...(row.points !== null && { points: toPoints(row.points) }),
    ...(row.column_ids !== null && { columnIds: JSON.parse(row.column_ids) as readonly number[] }), // see `fromTombstone`
  };
}

export function fromTombstone(tombstone: StoredTombstone): TombstoneRow {
  return {
    id: tombstone.id,
    table_id: tombstone.tableId,
    seq: String(tombstone.seq),
    min_time: String(tombstone.minTimeNs),
    max_time: String(tombstone.maxTimeNs),
    // An absent tag is `undefined`, which JSON writes as null within a list.
    any_of: JSON.stringify(tombstone.anyOf),
    points: tombstone.points === undefined ? null : fromPoints(tombstone.points),
    column_ids: tombstone.columnIds === undefined ? null : JSON.stringify(tombstone.columnIds),
  };
}

/** 64-bit integers are decimal strings, because JSON numbers are not exact. */
const fromPoints = (points: readonly SeriesPoint[]): string =>
  JSON.stringify(points.map(({ seriesId, timeNs }) => [String(seriesId), String(timeNs)]));

function toPoints(text: string): readonly SeriesPoint[] {
  const points = JSON.parse(text) as readonly (readonly [string, string])[]; // `fromPoints` wrote this JSON
  return points.map(([seriesId, timeNs]) => ({
    seriesId: BigInt(seriesId),
    timeNs: BigInt(timeNs),
  }));
}
