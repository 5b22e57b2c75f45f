import { jsonResponse, OpenApi, operatorFailure, operatorRoute, type Route } from '@plinth/kernel';
import type { TableFacts, TableStorage } from '@plinth/tsdb-catalog/overview.js';
import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import type { EngineStorage } from '@plinth/tsdb-engine/engine-storage.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { compareTimes } from '@plinth/tsdb-model/time/calendar.js';
import { Type } from 'typebox';

const PATH = '/tsdb/storage';
const MAX_FILE_COUNT = 10_000;
const MAX_BODY_BYTES = 64 * 1024;
const { response, json, nullable, oneOf } = OpenApi;
const maybe = Type.Optional;
const Count = Type.Integer({ minimum: 0 });
const Time = Type.String({ format: 'date-time' });
const Ns = Type.String({ pattern: '^-?\\d{1,19}$', description: 'nanoseconds since 1970' });
const TableName = Type.Object({ db: Type.String(), table: Type.String() });

const Storage = Type.Object({
  buffered_bytes: Type.Integer({ description: 'size of rows not yet in a file' }),
  buffered_ms: Type.Integer({ description: 'age of the oldest of these rows' }),
  log_bytes: Count,
  log_file_count: Count,
  obstacle: nullable(
    Type.String({ description: 'reason why writes are refused; null if they are accepted' }),
  ),
  flush: Type.Object({
    running: nullable(Type.Object({ since: Time, table_count: Count, done_count: Count })),
    last: nullable(
      Type.Object({
        ended_at: Time,
        duration_ms: Type.Number(),
        error: nullable(Type.String({ description: 'null: succeeded' })),
      }),
    ),
  }),
  compaction: Type.Object({
    running: nullable(Type.Object({ ...TableName.properties, since: Time, file_count: Count })),
    waiting: Type.Array(TableName, { description: 'tables queued by a request' }),
    merge_count: Type.Integer({ description: 'since the server started' }),
    last_failure: nullable(
      Type.Object({ ...TableName.properties, failed_at: Time, error: Type.String() }),
    ),
  }),
});
const File = Type.Object({
  ...TableName.properties,
  path: Type.String({ description: 'name below the object store' }),
  kind: oneOf(['unique', 'overlay']),
  level: Type.Integer({ description: '0 for flushed files, then the number of merges' }),
  row_count: Count,
  size_bytes: Count,
  min_time: Ns,
  max_time: Ns,
});
const Files = Type.Object({
  ...Storage.properties,
  files: maybe(Type.Array(File, { description: 'files of the requested database, by time' })),
  file_count: maybe(Type.Integer({ description: 'number of files, including those not listed' })),
});

/** State of buffer, log and files, and the routes for flush and compaction. */
export const storageRoutes = (
  catalog: RelationalCatalog,
  facts: TableFacts,
  storage: EngineStorage,
): readonly Route[] => {
  const shown = (): object => storageToWire(catalog, storage);
  return [
    operatorRoute('GET', PATH, {
      about: {
        summary: 'Get the storage state: buffered rows, log, flushes, compaction and files',
      },
      input: {
        query: Type.Object({
          db: maybe(Type.String({ minLength: 1 })),
          table: maybe(Type.String({ minLength: 1 })),
          limit: maybe(Type.Integer({ minimum: 1, maximum: MAX_FILE_COUNT, default: 1000 })),
        }),
      },
      output: { 200: response('current state', json(Files)) },
      errors: { 404: 'database or table not found', 422: 'table requires db' },
      handle(request, { query: { db, table, limit = 1000 } }) {
        if (db === undefined) {
          if (table !== undefined)
            return operatorFailure(request, 422, "the parameter 'table' requires 'db'");
          return jsonResponse(200, shown());
        }
        const database = catalog.database(db);
        if (database === undefined)
          return operatorFailure(request, 404, `database not found: ${db}`);
        const tables =
          table === undefined ? [...database.tables.values()] : [database.tables.get(table)];
        if (tables[0] === undefined && table !== undefined) {
          return operatorFailure(request, 404, `table not found: ${db}.${table}`);
        }
        const files = filesOf(
          db,
          tables.filter((each) => each !== undefined),
          facts,
        );
        return jsonResponse(200, {
          ...shown(),
          files: files.slice(0, limit),
          file_count: files.length,
        });
      },
    }),
    {
      method: 'POST',
      path: `/ops/v1${PATH}/flush`,
      access: 'admin',
      about: { summary: 'Flush all rows in memory to files' },
      output: {
        202: response('flush started or already running; GET returns its progress', json(Storage)),
      },
      errors: { 503: 'the log is read-only' },
      handle: (request) =>
        storage.flushSoon()
          ? jsonResponse(202, shown())
          : operatorFailure(request, 503, storage.state().obstacle ?? READ_ONLY),
    },
    operatorRoute('POST', `${PATH}/compact`, {
      maxBytes: MAX_BODY_BYTES,
      about: { summary: 'Compact the files of a table, even if there are few' },
      input: {
        body: Type.Object({
          db: Type.String({ minLength: 1 }),
          table: Type.String({ minLength: 1 }),
          min_time: maybe(Ns),
          max_time: maybe(Ns),
        }),
      },
      output: {
        202: response('compaction started or queued; GET returns its progress', json(Storage)),
      },
      errors: {
        404: 'database or table not found',
        409: 'too many tables are queued',
        422: 'min_time or max_time is out of range, or min_time is after max_time',
      },
      handle(request, { body: { db, table: name, min_time, max_time } }) {
        const table = catalog.database(db)?.tables.get(name);
        if (table === undefined)
          return operatorFailure(request, 404, `table not found: ${db}.${name}`);
        const span = {
          minTimeNs: min_time === undefined ? MIN_TIME_NS : BigInt(min_time),
          maxTimeNs: max_time === undefined ? MAX_TIME_NS : BigInt(max_time),
        };
        const fault = faultOf(span);
        if (fault !== undefined) return operatorFailure(request, 422, fault);
        if (!storage.compactSoon(table, span)) return operatorFailure(request, 409, TOO_MANY);
        return jsonResponse(202, shown());
      },
    }),
  ];
};

function faultOf(span: { readonly minTimeNs: bigint; readonly maxTimeNs: bigint }) {
  const outside = isInt64(span.minTimeNs) ? 'max_time' : 'min_time';
  if (!isInt64(span.minTimeNs) || !isInt64(span.maxTimeNs))
    return `${outside} is out of range; expected a signed 64-bit integer, in nanoseconds since 1970`;
  return span.minTimeNs > span.maxTimeNs ? 'min_time is after max_time' : undefined;
}

const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

const READ_ONLY = 'the commit log is read-only; restart the server';
const TOO_MANY = 'too many tables are queued for compaction; retry when some are finished';

interface TableName {
  readonly db: string;
  readonly table: string;
}

/** Returns the names of a table; `undefined` if it was deleted in the meantime. */
function tableNameOf(catalog: RelationalCatalog, tableId: number): TableName | undefined {
  const table = catalog.tableById(tableId);
  const database = table && catalog.databaseById(table.databaseId);
  return database && table && { db: database.name, table: table.name };
}

function filesOf(db: string, tables: readonly TableSchema[], facts: TableFacts): readonly object[] {
  const all = tables.flatMap((table) =>
    facts.storageOf(table).segments.map((file) => ({ table: table.name, file })),
  );
  all.sort((a, b) => compareTimes(a.file.minTime, b.file.minTime));
  return all.map(({ table, file }) => fileToWire({ db, table }, file));
}

const fileToWire = (name: TableName, file: TableStorage['segments'][number]): object => ({
  ...name,
  path: file.objectName,
  kind: file.kind,
  level: file.level,
  row_count: file.rowCount,
  size_bytes: file.sizeBytes,
  min_time: file.minTime.toString(),
  max_time: file.maxTime.toString(),
});

const iso = (ms: number): string => new Date(ms).toISOString();

/** Returns the current state. */
export function storageToWire(catalog: RelationalCatalog, storage: EngineStorage): object {
  const { flush, compaction, ...state } = storage.state();
  const { running, last } = flush;
  const { running: merge, lastFailure } = compaction;
  const unknown = { db: '', table: '' };
  return {
    buffered_bytes: state.bufferedBytes,
    buffered_ms: Math.round(state.bufferedMs),
    log_bytes: state.logBytes,
    log_file_count: state.logFileCount,
    obstacle: state.obstacle ?? null,
    flush: {
      running: running
        ? {
            since: iso(running.sinceMs),
            table_count: running.tableCount,
            done_count: running.doneCount,
          }
        : null,
      last: last
        ? {
            ended_at: iso(last.endedMs),
            duration_ms: Math.round(last.durationMs),
            error: last.error ?? null,
          }
        : null,
    },
    compaction: {
      running: merge
        ? {
            ...(tableNameOf(catalog, merge.tableId) ?? unknown),
            since: iso(merge.sinceMs),
            file_count: merge.fileCount,
          }
        : null,
      waiting: compaction.waiting.flatMap((id) => tableNameOf(catalog, id) ?? []),
      merge_count: compaction.mergeCount,
      last_failure: lastFailure
        ? {
            ...(tableNameOf(catalog, lastFailure.tableId) ?? unknown),
            failed_at: iso(lastFailure.failedMs),
            error: lastFailure.error,
          }
        : null,
    },
  };
}
