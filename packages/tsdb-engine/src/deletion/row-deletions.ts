import type { Clock, Random } from '@plinth/kernel';
import type { Catalog } from '@plinth/tsdb-catalog/catalog.js';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import type { DeletePointsRequest, DeleteRowsRequest } from '@plinth/tsdb-model/engine.js';
import { refuseFormerColumns, tableNotKnown, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { SegmentCommits } from '../flush/segment-commits.js';
import type { TableStore } from '../table/table-store.js';
import { conditionsOf, type Tombstone } from '../table/tombstones.js';
import type { WriteSequencer } from '../write/write-sequencer.js';
import { PendingDeletion } from './pending-deletion.js';

/**
 * Maximum number of deletions of one table that compaction has not carried out; each slows down the
 * queries that it affects. A deletion of values counts once for each field.
 */
const MAX_WAITING_COUNT = 1000;
/**
 * Maximum stored size of the conditions of one deletion, counted once per table. All conditions are read at startup.
 */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/**
 * Each point is part of the SQL text of the queries that the deletion affects, once for each field
 * of a deletion of values.
 */
const MAX_POINTS = 10_000;
/** Maximum number of points of one table that compaction has not removed. */
const MAX_WAITING_POINTS = 100_000;

/** Deletes rows: queries hide them from then on, and compaction removes them from files. */
export class RowDeletions {
  readonly #catalog: Catalog;
  readonly #segmentCommits: SegmentCommits;
  readonly #sequencer: WriteSequencer;
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #storeOf: (schema: TableSchema) => TableStore | undefined;

  constructor(options: {
    readonly catalog: Catalog;
    readonly segmentCommits: SegmentCommits;
    readonly sequencer: WriteSequencer;
    readonly random: Random;
    readonly clock: Clock;
    /** Returns `undefined` if nothing was ever written to the table. */
    readonly storeOf: (schema: TableSchema) => TableStore | undefined;
  }) {
    this.#catalog = options.catalog;
    this.#segmentCommits = options.segmentCommits;
    this.#sequencer = options.sequencer;
    this.#random = options.random;
    this.#clock = options.clock;
    this.#storeOf = options.storeOf;
  }

  /**
   * Resolves when the deletion is durable and applies to every query that starts afterwards.
   * Returns the ids of the tables that may have lost rows. Throws `internal_database`,
   * `database_not_known`, `table_not_known`, `column_renamed`, `too_many_deletions`,
   * `deletion_too_large`.
   */
  async delete(request: DeleteRowsRequest): Promise<readonly number[]> {
    if (request.database === INTERNAL_DATABASE && request.isInternal !== true)
      throw tsdbError('internal_database', 'modify');
    const { minTimeNs, maxTimeNs, anyOf, fields } = request;
    if (minTimeNs > maxTimeNs || anyOf.length === 0) return [];
    const schemas = this.#tablesOf(request);
    for (const schema of schemas)
      refuseFormerColumns(schema, [...anyOf.flat().map(({ tag }) => tag), ...(fields ?? [])]);
    const columnIdsOf = (schema: TableSchema) => fields && fieldIds(schema, fields);
    const stores = schemas
      .filter((schema) => columnIdsOf(schema)?.length !== 0)
      .map((schema) => this.#storeOf(schema))
      .filter((store) => store?.mayContainRows(minTimeNs, maxTimeNs) === true)
      .filter((store) => store !== undefined);
    const tableCount = stores.length;
    if (tableCount === 0) return [];
    const conditionCount = Math.max(1, fields?.length ?? 1);
    if (JSON.stringify(anyOf).length * tableCount * conditionCount > MAX_KEPT_BYTES)
      throw tsdbError('deletion_too_large', { tableCount, maxBytes: MAX_KEPT_BYTES });
    for (const { tombstones, schema } of stores) {
      const own = conditionsOf({ columnIds: columnIdsOf(schema) });
      if (tombstones.conditionCount + own > MAX_WAITING_COUNT)
        throw tsdbError('too_many_deletions', { table: schema.name });
    }
    // The code from here to the log record is synchronous, so later rows have higher sequence
    // numbers.
    const seq = this.#sequencer.nextSeq();
    const made = stores.map((store): { store: TableStore; tombstone: Tombstone } => {
      const id = this.#random.uuidV7();
      const { tableId } = store;
      const columnIds = columnIdsOf(store.schema);
      return { store, tombstone: { id, tableId, seq, minTimeNs, maxTimeNs, anyOf, columnIds } };
    });
    const tombstones = made.map(({ tombstone }) => tombstone);
    const stored = this.#segmentCommits.addTombstones(tombstones, {
      applyCommitted: () => {
        for (const { store, tombstone } of made) store.tombstones.confirm(tombstone);
      },
      abandon: () => {
        for (const { store, tombstone } of made) store.tombstones.discard(tombstone);
      },
    });
    for (const { store, tombstone } of made) store.tombstones.announce(tombstone, stored);
    await stored;
    return stores.map((store) => store.tableId);
  }

  /**
   * Deletes the points that a scan finds: exactly the rows written before its snapshot. Returns
   * whether there were any. Throws `internal_database`, `database_not_known`, `table_not_known`,
   * `column_renamed`, `too_many_deletions`, `too_many_points`, `deletion_timed_out`.
   */
  async deletePoints(request: DeletePointsRequest): Promise<readonly number[]> {
    const { database, table, find, fields } = request;
    if (database === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    const [schema] = this.#tablesOf({ database, tables: [table] });
    if (schema !== undefined) refuseFormerColumns(schema, fields ?? []);
    const columnIds = schema && fields && fieldIds(schema, fields);
    const store = schema && this.#storeOf(schema);
    if (store === undefined || columnIds?.length === 0) return [];
    const { tombstones, tableId } = store;
    const nextSeq = () => this.#sequencer.nextSeq();
    const pending = new PendingDeletion({ store, clock: this.#clock, nextSeq });
    try {
      const onSnapshot = () => pending.announce();
      const conditionCount = conditionsOf({ columnIds });
      const maxPoints = Math.floor(MAX_POINTS / conditionCount);
      const points = await find({ onSnapshot, maxPoints });
      const { seq } = pending;
      const [first] = points;
      if (first === undefined) return [];
      if (points.length > maxPoints)
        throw tsdbError('too_many_points', { table, maxCount: maxPoints });
      const isFull = tombstones.pointCount + points.length * conditionCount > MAX_WAITING_POINTS;
      if (isFull || tombstones.conditionCount + conditionCount > MAX_WAITING_COUNT)
        throw tsdbError('too_many_deletions', { table });
      let [minTimeNs, maxTimeNs] = [first.timeNs, first.timeNs];
      for (const { timeNs } of points) {
        if (timeNs < minTimeNs) minTimeNs = timeNs;
        if (timeNs > maxTimeNs) maxTimeNs = timeNs;
      }
      const id = this.#random.uuidV7();
      const tombstone = { id, tableId, seq, minTimeNs, maxTimeNs, anyOf: [], points, columnIds };
      const stored = this.#segmentCommits.addTombstones([tombstone], {
        applyCommitted: () => tombstones.confirm(tombstone),
        abandon: () => tombstones.discard(tombstone),
      });
      tombstones.announce(tombstone, stored);
      pending.end(); // flush and compaction now wait for the stored tombstone
      await stored;
      return [tableId];
    } finally {
      pending.end();
    }
  }

  #tablesOf(request: Pick<DeleteRowsRequest, 'database' | 'tables'>): readonly TableSchema[] {
    const { database: name, tables } = request;
    const database = this.#catalog.database(name);
    if (database === undefined) throw tsdbError('database_not_known', { database: name });
    if (tables === undefined) return [...database.tables.values()];
    return tables.map((table) => {
      const schema = database.tables.get(table);
      if (schema === undefined) throw tableNotKnown(database, table);
      return schema;
    });
  }
}

/** Returns the ids of those fields that the table has. */
function fieldIds({ columns }: TableSchema, names: readonly string[]): readonly number[] {
  return names.flatMap((name) => {
    const column = columns.get(name);
    const isField = column !== undefined && column.kind !== 'tag' && column.kind !== 'time';
    return isField ? [column.id] : [];
  });
}
