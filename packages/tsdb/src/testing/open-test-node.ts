import { join } from 'node:path';
import {
  type Clock,
  createLogger,
  LocalLeases,
  LocalObjectStore,
  loadSettings,
  Metrics,
  NodeFileSystem,
  type ObjectStore,
  openCommitLog,
  openRelationalStore,
  type RelationalStore,
  SystemClock,
  SystemRandom,
} from '@plinth/kernel';
import { TSDB_SETTINGS } from '../config.js';
import type { Planner } from '../domain/engine/query/query-path.js';
import { SqlPlanner } from '../domain/sql/sql-planner.js';
import type { TokenDirectory } from '../domain/system-tables/tokens.js';
import { type OpenTsdb, openTsdb } from '../service.js';

/** Nothing is written but what a test writes. */
const QUIET = { 'tsdb-internal-metrics-interval-ms': '0' };

/** The whole engine on real stores in `dataDir`, without HTTP. `flags` as on the command line, without their dashes. */
export async function openTestNode(
  dataDir: string,
  options: {
    readonly flags?: Readonly<Record<string, string>>;
    readonly clock?: Clock;
    readonly planner?: Planner;
    readonly tokens?: TokenDirectory;
    readonly metrics?: Metrics;
    /** Stands in front of the real store of files. */
    readonly before?: (objects: ObjectStore) => ObjectStore;
    /** Stands in front of the real store of the catalog. */
    readonly beforeCatalog?: (store: RelationalStore) => RelationalStore;
  } = {},
): Promise<OpenTsdb> {
  const clock = options.clock ?? new SystemClock();
  const random = new SystemRandom(clock);
  const fileSystem = new NodeFileSystem();
  const path = join(dataDir, 'plinth.db');
  const relational = await openRelationalStore({ path, clock, fileSystem });
  const files = await LocalObjectStore.open({
    fileSystem,
    root: join(dataDir, 'objects'),
    random,
  });
  const node = await openTsdb(
    {
      settings: loadSettings(
        { tsdb: TSDB_SETTINGS },
        { env: {}, flags: new Map(Object.entries({ ...QUIET, ...options.flags })) },
      ).tsdb,
      nodeId: 'node0',
      tokens: options.tokens ?? { list: () => [], isAuthRequired: false },
      dataDir,
      fileSystem,
      relational: options.beforeCatalog?.(relational) ?? relational,
      objects: options.before?.(files) ?? files,
      openLog: ({ folder: directory, nodeUuid: nodeId, repair }) =>
        openCommitLog({ fileSystem, directory, nodeId, repair, onLoss: () => {} }),
      leases: new LocalLeases(),
      metrics: options.metrics ?? new Metrics(),
      clock,
      random,
      log: createLogger({ level: 'silent' }),
    },
    options.planner ?? (await loadPlanner()),
  );
  return {
    ...node,
    async close() {
      await node.close();
      await relational.close();
    },
  };
}

async function loadPlanner(): Promise<Planner> {
  const planner = await SqlPlanner.load();
  return (text, context, signal) => planner.plan(text, context, signal);
}
