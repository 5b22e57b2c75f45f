import { join } from 'node:path';
import {
  type Clock,
  createLogger,
  LocalLeases,
  LocalObjectStore,
  type Logger,
  loadSettings,
  Metrics,
  NodeFileSystem,
  type ObjectStore,
  openCommitLog,
  openRelationalStore,
  type Random,
  SecretBox,
  SystemClock,
  SystemRandom,
} from '@plinth/kernel';
import type { CallFaults } from '@plinth/kernel/testing';
import {
  failingLogFiles,
  failingObjectStore,
  failingRelationalStore,
} from '@plinth/kernel/testing';
import type { Planner } from '../domain/engine/query/query-path.js';
import { SqlPlanner } from '../domain/sql/sql-planner.js';
import type { TokenDirectory } from '../domain/system-tables/tables/tokens.js';
import { type OpenTsdb, openTsdb } from '../service.js';
import { TSDB_SETTINGS } from '../settings/config.js';

/** Nothing is written but what a test writes. */
const QUIET = { 'tsdb-internal-metrics-interval-ms': '0' };

export interface TestNode extends OpenTsdb {
  /** The relational store as of one moment, as a backup has it. */
  copyStore(path: string): Promise<void>;
}

/**
 * The whole engine on real stores in `dataDir`, without HTTP. `flags` as on the command line, without their dashes.
 *
 * With `faults`, each call of the object store (`OBJECT_CALLS`), of the catalog (`CATALOG_CALLS`), of the commit log's files
 * (`LOG_CALLS`) and of DuckDB (`EngineCall`) can be made to fail, the k-th of its kind, once or for a while, without its effect or after it:
 *
 *     const faults = new CallFaults();
 *     const node = await openTestNode(dataDir, { clock, faults });
 *     faults.fail({ kind: 'object.get', count: Infinity });            // until faults.heal()
 *     faults.fail({ kind: 'catalog.transaction', effect: 'done' });    // committed, and told that it failed
 *     faults.fail({ kind: 'engine.copy', at: 3 });                     // the third from here on
 *
 * `faults.counts` says how many calls of each kind there were: a simulation runs its steps once without a fault, and again
 * for every kind and k. Close and open a node on the same folder for a restart; what a killed process leaves is a copy of the
 * folder made while it runs. Under a `ManualClock` nothing runs in the background but what a step starts. Statements of the
 * engine other than COPY are in memory and change nothing when they fail: `effect: 'done'` is for stores and COPY.
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
    /** Stands in front of the real store of files. */
    readonly before?: (objects: ObjectStore) => ObjectStore;
    /** Lets calls of the object store, the catalog and the engine fail; see `openTestNode`. */
    readonly faults?: CallFaults;
    /** So many tables are flushed together; otherwise as in a server. */
    readonly flushGroupTables?: number;
    /** So many rows of a segment are kept in memory as one; otherwise as in a server. */
    readonly segmentUnitRows?: number;
    /** So many small tables are flushed at a time, unless all are; otherwise as in a server. */
    readonly flushSmallTables?: number;
    /** So many bytes are made ready at once behind the records of the log; otherwise as in a server. */
    readonly logZeroBytes?: number;
    /** Told of what only the log would tell. */
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
  const opening = openTsdb(
    {
      settings: loadSettings(
        { tsdb: TSDB_SETTINGS },
        { env: {}, flags: new Map(Object.entries({ ...QUIET, ...options.flags })) },
      ).tsdb,
      nodeId: 'node0',
      tokens: options.tokens ?? { list: () => [], isAuthRequired: false },
      dataDir,
      fileSystem,
      secrets: new SecretBox(Buffer.alloc(32, 1), random),
      relational: faults === undefined ? relational : failingRelationalStore(relational, faults),
      objects: faults === undefined ? placed : failingObjectStore(placed, faults),
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
      engineWatch: faults,
      flushGroupTables: options.flushGroupTables,
      flushSmallTables: options.flushSmallTables,
      segmentUnitRows: options.segmentUnitRows,
    },
    options.planner ?? (await loadPlanner()),
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

async function loadPlanner(): Promise<Planner> {
  const planner = await SqlPlanner.load();
  return (text, context, signal) => planner.plan(text, context, signal);
}
