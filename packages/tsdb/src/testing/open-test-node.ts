import { join } from 'node:path';
import {
  type BucketStore,
  type Clock,
  createLogger,
  type FolderObjectStore,
  LocalLeases,
  LocalObjectStore,
  type Logger,
  loadSettings,
  Metrics,
  NodeFileSystem,
  openCommitLog,
  openRelationalStore,
  type Random,
  SecretBox,
  SystemClock,
  SystemRandom,
} from '@plinth/kernel';
import type { CallFaults } from '@plinth/kernel/testing';
import {
  failingBucket,
  failingLogFiles,
  failingObjectStore,
  failingRelationalStore,
} from '@plinth/kernel/testing';
import type { Planner } from '@plinth/tsdb-engine/query/query-path.js';
import { OPEN_TABLES_SETTINGS } from '@plinth/tsdb-open-tables/settings.js';
import { QUERY_SETTINGS } from '@plinth/tsdb-open-tables/wide/settings.js';
import { SqlPlanner } from '@plinth/tsdb-sql/sql-planner.js';
import type { TokenDirectory } from '../domain/system-tables/tables/tokens.js';
import { type OpenTsdb, openTsdb, type Planners } from '../service.js';
import { TSDB_SETTINGS } from '../settings/config.js';

/** Disables all writes except the writes of the test. */
const QUIET = { 'tsdb-internal-metrics-interval-ms': '0' };

export interface TestNode extends OpenTsdb {
  /** Copies a snapshot of the relational store, like a backup. */
  copyStore(path: string): Promise<void>;
}

/**
 * The complete storage engine on real stores in `dataDir`, without HTTP. `flags` as on the command
 * line, without the dashes.
 * With `faults`, calls of the object store (`OBJECT_CALLS`), the relational store (`RELATIONAL_CALLS`), the
 * commit log's files (`LOG_CALLS`) and DuckDB (`EngineCall`) can be made to fail. A fault selects
 * the k-th call of a kind, once or repeatedly, before or after its effect:
 * - `const faults = new CallFaults(); const node = await openTestNode(dataDir, { clock, faults });`
 * - `faults.fail({ kind: 'object.get', count: Infinity });` fails until `faults.heal()`.
 * - `faults.fail({ kind: 'relational.transaction', effect: 'done' });` commits, but reports a failure.
 * - `faults.fail({ kind: 'duckdb.copy', at: 3 });` fails the third call from now on.
 * `faults.counts` has the number of calls of each kind. A simulation runs its steps once without
 * faults, then again for every kind and k.
 * To restart, close and reopen a node on the same folder. To simulate a kill, copy the folder while
 * the node runs. Under a `ManualClock`, only the steps themselves start background work. DuckDB
 * statements except COPY run in memory and change nothing when they fail, so `effect: 'done'` is
 * for stores and COPY.
 */
export async function openTestNode(
  dataDir: string,
  options: {
    readonly flags?: Readonly<Record<string, string>>;
    readonly clock?: Clock;
    readonly random?: Random;
    readonly planner?: Planner;
    readonly tokens?: TokenDirectory;
    readonly metrics?: Metrics;
    /** Wraps the real object store. */
    readonly before?: (objects: FolderObjectStore) => FolderObjectStore;
    /** Where tables are published; absent for `dataDir`. */
    readonly bucket?: BucketStore | undefined;
    /** Makes calls of the object store, the relational store and DuckDB fail; see `openTestNode`. */
    readonly faults?: CallFaults;
    /** Number of tables that are flushed together; defaults to the server's. */
    readonly flushGroupTables?: number;
    /** Rows of a segment per cached range; defaults to the server's. */
    readonly cachedRangeRows?: number;
    /**
     * Maximum number of small tables per flush, unless all are flushed; defaults to the server's.
     */
    readonly flushSmallTables?: number;
    /** Bytes that the log preallocates after its records; defaults to the server's. */
    readonly logZeroBytes?: number;
    /** Receives events that are only logged. */
    readonly log?: Logger;
  } = {},
): Promise<TestNode> {
  const clock = options.clock ?? new SystemClock();
  const { faults } = options;
  const random = options.random ?? new SystemRandom(clock);
  const fileSystem = new NodeFileSystem();
  const path = join(dataDir, 'plinth.db');
  const relational = await openRelationalStore({ path, clock, fileSystem });
  const files = await LocalObjectStore.open({
    fileSystem,
    root: join(dataDir, 'objects'),
    random,
  });
  const logFiles = faults === undefined ? fileSystem : failingLogFiles(fileSystem, faults);
  const placed = options.before?.(files) ?? files;
  const settings = loadSettings(
    { tsdb: TSDB_SETTINGS, openTables: OPEN_TABLES_SETTINGS, query: QUERY_SETTINGS },
    { env: {}, flags: new Map(Object.entries({ ...QUIET, ...options.flags })) },
  );
  const opening = openTsdb(
    {
      settings: settings.tsdb,
      openTables: settings.openTables,
      query: settings.query,
      nodeId: 'node0',
      tokens: options.tokens ?? { list: () => [], isAuthRequired: false },
      dataDir,
      fileSystem,
      secrets: new SecretBox(Buffer.alloc(32, 1), random),
      relational: faults === undefined ? relational : failingRelationalStore(relational, faults),
      objects: faults === undefined ? placed : failingObjectStore(placed, faults),
      bucket: options.bucket && {
        store: faults === undefined ? options.bucket : failingBucket(options.bucket, faults),
        folderId: async () => 'folder0',
      },
      openLog: ({ folder: directory, nodeUuid: nodeId, ...how }) =>
        openCommitLog({
          ...{ fileSystem: logFiles, directory, nodeId, random, ...how, onLoss: () => {} },
          ...(options.logZeroBytes === undefined ? {} : { zeroStepSize: options.logZeroBytes }),
        }),
      leases: new LocalLeases(),
      metrics: options.metrics ?? new Metrics(),
      clock,
      random,
      log: options.log ?? createLogger({ level: 'silent' }),
      duckDbWatch: faults,
      flushGroupTables: options.flushGroupTables,
      flushSmallTables: options.flushSmallTables,
      cachedRangeRows: options.cachedRangeRows,
    },
    await loadPlanners(options.planner),
  );
  const node = await opening.catch(async (error: unknown) => {
    await relational.close();
    throw error;
  });
  return {
    ...node,
    copyStore: (target) => relational.snapshot(target),
    async close() {
      await node.close().finally(() => relational.close());
    },
  };
}

async function loadPlanners(given: Planner | undefined): Promise<Planners> {
  const planner = await SqlPlanner.load();
  return {
    plan: given ?? ((text, context, signal) => planner.plan(text, context, signal)),
    planWide: (text, context) => planner.planWide(text, context),
  };
}
