import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import {
  BodyBudget,
  Cors,
  type Counter,
  DiskSpace,
  type HttpService,
  type Logger,
  type LogRing,
  Metrics,
  machineMemoryBytes,
  type RequestGate,
  type Route,
  SystemClock,
  SystemRandom,
  type WriteRoom,
} from '@plinth/kernel';
import { preloadTsdb } from '@plinth/tsdb';
import { CatalogCheck } from './folder/catalog-check.js';
import { CatalogSnapshots } from './folder/catalog-snapshots.js';
import type { DataFolder } from './folder/data-folder.js';
import { STORE_FILE } from './folder/file-names.js';
import { SharedSettingsCheck } from './folder/shared-settings-check.js';
import { openStores } from './folder/stores.js';
import { Health } from './health.js';
import { DialectDirectory } from './http/dialect-directory.js';
import { describeAll, describeOne } from './http/docs/describe-apis.js';
import { createDocumentation } from './http/docs/documentation.js';
import { HttpMetrics } from './http/http-metrics.js';
import { Pipeline } from './http/pipeline.js';
import { Router } from './http/router.js';
import { servedHere, unservedDialect } from './http/served-here.js';
import { serverDialect } from './http/server-dialect.js';
import { createServiceEndpoints } from './http/service-endpoints.js';
import { observeServer } from './metrics/server-metrics.js';
import { AUDIT_FOLDER, AuditLog } from './operator/audit-log.js';
import { audited } from './operator/audited-requests.js';
import { refusedWhenFull } from './operator/full-disk-requests.js';
import { linesOf } from './port/fast/fast-reader.js';
import type { Served } from './port/listener.js';
import { RefusedConnections } from './port/refused-connections.js';
import type { TlsIdentity } from './port/tls-identity.js';
import { LogLevels } from './process/log-levels.js';
import { ObstacleLog } from './process/obstacle-log.js';
import { openAccessLog } from './process/open-access-log.js';
import { openTraces } from './process/open-traces.js';
import { openAccounts } from './services/accounts.js';
import { openBackup } from './services/backup.js';
import { openConsole } from './services/console.js';
import { openGameData } from './services/gamedata.js';
import { openIdentity } from './services/identity.js';
import { openOutbox } from './services/outbox.js';
import { clientAddressesOf, openRateLimit } from './services/ratelimit.js';
import { Reports } from './services/reports.js';
import type { ServiceParts } from './services/service-parts.js';
import { openTsdb } from './services/tsdb.js';
import { accountListener, openWebhooks } from './services/webhooks.js';
import type { ServiceName, Settings } from './settings.js';

/** Share of the available memory for request bodies. */
const PART_FOR_BODIES = 1 / 8;
const LEAST_FOR_BODIES_BYTES = 128 * 1024 * 1024;

/** A server whose services have started; it does not listen yet. */
export interface WiredServer extends Served {
  /** OpenAPI descriptions by name. */
  descriptions(): Readonly<Record<string, object>>;
  readonly metrics: Metrics;
  readonly refused: RefusedConnections;
  /** Whether no admin token exists yet. */
  isFirstTokenFree(): boolean;
  /** Must be called once the port accepts requests. */
  warmUp(): void;
  /** Passes renewed certificates to services with their own ports. */
  useIdentity(identity: TlsIdentity): void;
  /** From now on, connections are closed after a response and `ready` fails. */
  beginDraining(): void;
  /** Closes services in reverse order, then the stores. Can be called twice. */
  close(): Promise<void>;
}

/** The composition root: opens stores, then services, then puts HTTP in front. */
export async function wireUp(
  settings: Settings,
  log: Logger,
  around: {
    /** Owned by the server from now on; `close` releases it last. */
    readonly folder: DataFolder;
    /** The last lines of `log`. */
    readonly ring?: LogRing;
    readonly levels?: LogLevels;
    readonly tls?: TlsIdentity | undefined;
  },
): Promise<WiredServer> {
  log.debug({ services: settings.server.services }, 'server starts');
  const clock = new SystemClock();
  const random = new SystemRandom(clock);
  const addresses = clientAddressesOf(settings);
  const metrics = new Metrics();
  metrics.observeProcess();
  const closers: (() => Promise<void> | void)[] = [
    () => around.folder.release(),
    () => metrics.close(),
  ];
  let isDraining = false;
  let certificate = around.tls;
  const router = new Router();
  const close = async (): Promise<void> => {
    // Closed in reverse order; a failure must not prevent the others from closing.
    const failures: unknown[] = [];
    for (let next = closers.pop(); next !== undefined; next = closers.pop()) {
      try {
        await next();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'not everything closed cleanly');
  };
  try {
    const space = await DiskSpace.open({
      ...{ files: around.folder.files, folder: around.folder.path, clock, log },
      minFreeBytes: settings.storage.min_free_bytes,
      reserveBytes: settings.storage.reserve_bytes,
    });
    closers.push(() => space.close());
    await around.folder.occupy(log);
    const runs = (name: ServiceName): boolean => settings.server.services.includes(name);
    // The store thread starts while code is loaded.
    const opening = openStores({
      folder: around.folder,
      settings: settings.server,
      repair: settings.tsdb.repair,
      ...{ clock, random, log, room: space },
    });
    if (runs('tsdb')) preloadTsdb();
    const stores = await opening;
    closers.push(() => stores.close());
    const path = join(stores.dataDir, STORE_FILE);
    const check = new CatalogCheck({ files: stores.files, path, log });
    closers.push(() => check.close());
    check.start();
    const snapshots = new CatalogSnapshots({
      ...{ files: stores.files, dataDir: stores.dataDir, clock, log },
      intervalSec: settings.server.catalog_snapshot_interval_sec,
    });
    closers.push(() => snapshots.close());
    snapshots.start();
    const { shared, folderId } = stores;
    if (shared !== undefined) {
      const deps = { store: shared, folder: folderId, settings, clock, log };
      const alike = await SharedSettingsCheck.join(deps);
      closers.push(() => alike.close());
    }
    const traces = openTraces(settings.server, { metrics, clock, random, log });
    closers.push(() => traces.close());
    const audit = new AuditLog({
      folder: join(stores.dataDir, AUDIT_FOLDER),
      ...{ files: stores.files, clock, log },
    });
    closers.push(() => audit.close());
    await audit.open();
    const outbox = openOutbox({ stores, settings: settings.server, clock, random, log });
    // Runs together with the preparation of the first services; a failure appears at its start.
    outbox.prepare().catch(() => undefined);
    const reports = new Reports({ settings, stores, outbox, log });
    let clusterUuid = '';
    const dialect = serverDialect({
      identify: (request, access) => identity.gate.check(request, access),
      clusterUuid: () => clusterUuid,
      cors: new Cors({
        // Without authentication, only the configured origins may read responses.
        origins: settings.server.cors_origins ?? (settings.identity.without_auth ? [] : '*'),
        methods: '*',
        requestHeaders: '*',
        maxAgeSec: 86_400,
      }),
      log,
    });
    const identity = openIdentity({
      ...{ settings, stores, clock, random, log, dialect, reports, audit },
      countTogether: (guesser, windowMs) =>
        rateLimit?.countWrongLogins('passwords')(guesser, windowMs),
      tls: around.tls?.options,
    });
    const health = new Health({
      ...{ stores, clock, log, folder: around.folder },
      obstacles: () => [
        isDraining ? 'shutting down' : undefined,
        space.obstacle?.message,
        check.obstacle,
        tsdb?.obstacle,
        tsdb?.flushObstacle,
        gamedata?.obstacle,
      ],
    });
    const refusing = new ObstacleLog(clock, log, [
      { what: 'disk', obstacle: () => space.obstacle?.message },
      { what: 'commit log', obstacle: () => tsdb?.obstacle },
      { what: 'relational store', obstacle: () => stores.local.obstacle },
      { what: 'shared relational store', obstacle: () => stores.shared?.obstacle },
    ]);
    closers.push(() => refusing.close());
    const obstacle = (): Promise<string | undefined> => health.obstacle();
    observeServer(metrics, {
      ...{ stores, health, outbox, room: space },
      folder: around.folder.path,
      certificateExpiryMs: () => certificate && Date.parse(certificate.validTo),
    });
    const refused = new RefusedConnections({ clock, log, metrics });
    const endpoints = createServiceEndpoints({
      ...{ clock, metrics, obstacle, dialect },
      operatorDialect: identity.dialect,
      routes: () => router.routes,
    });
    const partsOf = (service: ServiceName): ServiceParts => ({
      settings,
      stores,
      identity,
      addresses,
      dialect,
      outbox,
      audit,
      reports,
      metrics: metrics.part(service),
      tracer: traces.tracer,
      currentSpan: traces.currentSpan,
      clock,
      random,
      log: log.child({ service }),
    });
    const tsdb = runs('tsdb') ? openTsdb(partsOf('tsdb'), obstacle) : undefined;
    // Runs before the folder is released, and after every part that may still change the result.
    closers.push(() => {
      if (tsdb?.usesFolder) around.folder.keep();
    });
    const webhooks = runs('webhooks') ? openWebhooks(partsOf('webhooks')) : undefined;
    const accounts = runs('accounts')
      ? openAccounts(partsOf('accounts'), accountListener(webhooks))
      : undefined;
    const rateLimit = runs('ratelimit') ? openRateLimit(partsOf('ratelimit')) : undefined;
    const gamedata = runs('gamedata')
      ? await openGameData(partsOf('gamedata'), rateLimit?.countWrongLogins('gamedata'))
      : undefined;
    const services: HttpService[] = [
      // Loaded first, because returning clients of a server with data request these immediately.
      ...(tsdb ? [tsdb] : []),
      identity,
      ...(accounts ? [accounts] : []),
      ...(webhooks ? [webhooks] : []),
      ...(rateLimit ? [rateLimit] : []),
      ...(gamedata ? [gamedata] : []),
      createDocumentation(settings, log, (name) => describeOne(name, router.served)),
      endpoints,
    ];
    services.push(openBackup(partsOf('tsdb'), [...services]));
    let served: ReturnType<typeof servedHere> | undefined;
    const dialects: DialectDirectory = new DialectDirectory(
      unservedDialect(dialect, () => (served ??= servedHere(router.routes, dialects))),
    );
    dialects.add(dialect);
    const pages = openConsole(partsOf('tsdb'), {
      ...{ dialects, obstacle },
      ring: around.ring,
      levels: around.levels ?? new LogLevels(settings.server.log_level),
    });
    services.push(...pages.services);
    await startServices(services, {
      first: identity,
      alongside: tsdb,
      onStart: (service) => closers.push(() => service.close()),
    });
    closers.push(() => outbox.close());
    await outbox.start();
    await around.folder.noteVersion();
    reports.open();
    // The uuid comes from the catalog; without the time-series service it is specific to the process.
    clusterUuid = tsdb?.clusterUuid ?? random.uuidV4();
    const gate = rateLimit?.gate;
    const numbers = new HttpMetrics(metrics);
    const refusals = metrics.counter({
      name: 'plinth_data_disk_refused_requests_total',
      help: 'Write requests refused because less than `storage.min_free_bytes` is free.',
    });
    for (const service of services) {
      // With a shared database, only the time-series service stores data on this disk.
      const room = shared === undefined || service.name === 'tsdb' ? space : undefined;
      await addTables(service, { router, dialects, gate, numbers, audit, room, refusals });
      pages.live.add((await service.liveSources?.()) ?? []);
    }
    const bodies = new BodyBudget(
      clock,
      settings.server.max_body_memory_bytes ??
        Math.max(LEAST_FOR_BODIES_BYTES, Math.floor(machineMemoryBytes() * PART_FOR_BODIES)),
    );
    closers.push(() => bodies[Symbol.dispose]());
    space.logIfFull();
    const accessLog = openAccessLog(settings.server, clock, log);
    if (accessLog !== undefined) closers.push(() => accessLog.close());
    const pipeline = new Pipeline({
      accessLog: accessLog?.log,
      spans: traces.spans,
      ...{ router, dialects, gate, bodies, clock, log },
      grants: (access, principal) => identity.gate.grants(access, principal),
      unmatched: numbers.unmatched,
    });
    return {
      pipeline,
      addresses,
      clock,
      metrics,
      refused,
      descriptions: () => describeAll(router.served),
      longQueryPaths: new Set(
        router.served.flatMap(({ route }) => (route.takesLongQuery === true ? [route.path] : [])),
      ),
      headerLines: () => linesOf(dialect.headersFor(undefined)),
      isDraining: () => isDraining,
      isFirstTokenFree: () => identity.gate.isFirstTokenFree(),
      warmUp() {
        for (const service of services) service.warmUp?.();
      },
      useIdentity(renewed) {
        certificate = renewed;
        identity.useTls(renewed.options);
      },
      beginDraining() {
        isDraining = true;
        pages.live.beginDraining();
      },
      close,
    };
  } catch (error) {
    const explained = await around.folder.explain(error);
    // The cause of a failed start can also make closing fail. Only the cause is reported.
    await close().catch((err: unknown) =>
      log.debug({ err }, 'cleanup after a failed start is incomplete'),
    );
    throw explained;
  }
}

/**
 * Starts all services concurrently, so that their store transactions share commits. All but `alongside` may authenticate through
 * `first`, so they wait for it. Rejects only when no service is still starting.
 */
async function startServices(
  services: readonly HttpService[],
  order: {
    readonly first: HttpService;
    readonly alongside: HttpService | undefined;
    onStart(service: HttpService): void;
  },
): Promise<void> {
  const start = async (service: HttpService): Promise<void> => {
    order.onStart(service);
    await service.start();
  };
  const first = start(order.first);
  const starts = services.map(async (service) => {
    if (service === order.first) return await first;
    if (service !== order.alongside) await first;
    await start(service);
  });
  const settled = Promise.allSettled(starts);
  // One tick later: the tables of the first two come first, because these services have the most work afterwards.
  await setImmediate();
  for (const service of services) service.prepare?.().catch(() => undefined); // `start` reports the error again.
  const failed = (await settled).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Registers a service's routes with router, dialect directory and limiter. */
async function addTables(
  service: HttpService,
  to: {
    readonly router: Router;
    readonly dialects: DialectDirectory;
    readonly gate: RequestGate | undefined;
    readonly numbers: HttpMetrics;
    readonly audit: AuditLog;
    /** `undefined` if the service stores no data on the disk of the data folder. */
    readonly room: WriteRoom | undefined;
    readonly refusals: Counter;
  },
): Promise<void> {
  const { audit, room, refusals } = to;
  const wrapped = (route: Route): Route =>
    audited(room === undefined ? route : refusedWhenFull(route, room, refusals), audit);
  for (const given of await service.tables()) {
    const table = { ...given, routes: given.routes.map(wrapped) };
    const { dialect, routes } = table;
    to.dialects.add(dialect);
    if (to.gate?.covers(service.name)) to.gate.announce(service.name, routes);
    for (const route of routes) {
      to.router.add(service.name, table, route, (method) => to.numbers.route(method, route.path));
    }
  }
}
