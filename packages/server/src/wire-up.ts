import { setImmediate } from 'node:timers/promises';
import { createIdentity, OPERATOR_HEADER_LINES } from '@plinth/identity';
import {
  type Clock,
  type HttpService,
  type Logger,
  Metrics,
  type PlainRoute,
  RelationalOutbox,
  type RequestGate,
  SystemClock,
  SystemRandom,
} from '@plinth/kernel';
import { preloadTsdb } from '@plinth/tsdb';
import type { FastifyInstance } from 'fastify';
import type { DataFolder } from './data-folder.js';
import { Health } from './health.js';
import { Cors } from './http/cors.js';
import { createDocumentation } from './http/docs/documentation.js';
import {
  answerHeaderLines,
  createHttpApp,
  type HttpAppParts,
  registerServices,
} from './http/http-app.js';
import { HttpMetrics } from './http/http-metrics.js';
import type { GuardedRoute } from './http/route-guard.js';
import { createServiceEndpoints } from './http/service-endpoints.js';
import { ObstacleLog } from './obstacle-log.js';
import type { Listener } from './port/listener.js';
import { type GatedRoute, PlainSide } from './port/plain-side.js';
import type { TlsIdentity } from './port/tls-identity.js';
import { whenAnswered } from './port/when-answered.js';
import { openAccounts } from './services/accounts.js';
import { openBackup } from './services/backup.js';
import { openGameData } from './services/gamedata.js';
import { openRateLimit } from './services/ratelimit.js';
import { Reports } from './services/reports.js';
import type { ServiceParts } from './services/service-parts.js';
import { openTsdb } from './services/tsdb.js';
import { accountListener, openWebhooks } from './services/webhooks.js';
import type { ServiceName, Settings } from './settings.js';
import { openStores } from './stores.js';

const DAY_MS = 86_400_000;

/** A server whose services have started; it has no routes yet and does not listen. */
export interface WiredServer {
  readonly app: FastifyInstance;
  readonly clock: Clock;
  /** What answers plain requests; `undefined` when the framework has to see all of them. */
  openPlainSide(keepAliveMs: number): PlainSide | undefined;
  /**
   * Makes what answers all requests. The port may be open: the plain side answers health checks, and what it has got the
   * routes of while the rest is made.
   */
  registerRoutes(port: Pick<Listener, 'plainGrown' | 'isWaitedFor'>): Promise<void>;
  /** To be called when the port answers. */
  warmUp(): void;
  /** Renewed certificates for the ports that services have of their own. */
  useIdentity(identity: TlsIdentity): void;
  /** From here on connections are not kept and `ready` fails. */
  beginDraining(): void;
  /** Closes services in reverse order, then the stores. Twice is harmless. */
  close(): Promise<void>;
}

/** The only place that knows every part: opens stores, then services, then puts HTTP in front. */
export async function wireUp(
  settings: Settings,
  log: Logger,
  around: {
    /** Taken over: given back by `close`, as the last. */
    readonly folder: DataFolder;
    readonly gate?: RequestGate | undefined;
    readonly tls?: TlsIdentity | undefined;
  },
): Promise<WiredServer> {
  log.debug({ services: settings.server.services }, 'server starts');
  const clock = new SystemClock();
  const random = new SystemRandom(clock);
  const metrics = new Metrics();
  metrics.observeProcess();
  const closers: (() => Promise<void> | void)[] = [
    () => around.folder.release(),
    () => metrics.close(),
  ];
  let isDraining = false;
  let routes: readonly GuardedRoute[] = [];
  const close = async (): Promise<void> => {
    // Last opened, first closed; one that fails must not keep the others open.
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
    await around.folder.occupy(log);
    const runs = (name: ServiceName): boolean => settings.server.services.includes(name);
    // The store's thread starts at once, and code is loaded meanwhile.
    const opening = openStores({
      folder: around.folder,
      settings: settings.server,
      repair: settings.tsdb.repair,
      ...{ clock, random, log },
    });
    if (runs('tsdb')) preloadTsdb();
    const stores = await opening;
    closers.push(() => stores.close());
    const outbox = new RelationalOutbox({
      store: stores.relational,
      clock,
      random,
      leases: stores.leases,
      log,
      absenceMs: settings.server.absent_service_days * DAY_MS,
      onSubscriberLeftBehind: ({ subscriber, lastSeenMs }) =>
        log.warn(
          { subscriber, lastSeen: new Date(lastSeenMs).toISOString() },
          'events removed that a service which no longer runs has not had',
        ),
      onHandlerFailure: ({ subscriber, event, attempt, error }) =>
        log.error({ err: error, subscriber, event: event.id, attempt }, 'event not handled'),
    });
    // Together with what the first services need; a failure shows at its start.
    outbox.prepare().catch(() => undefined);
    const reports = new Reports({ settings, stores, outbox, log });
    const identity = createIdentity({
      config: settings.identity,
      store: stores.relational,
      clock,
      random,
      files: stores.files,
      log: log.child({ service: 'identity' }),
      pages: {
        bind: settings.server.http_bind,
        publicUrl: settings.server.public_url,
        allowedHosts: settings.server.allowed_hosts,
        origins: settings.server.cors_origins,
      },
      report: reports.from(stores.relational),
      tls: around.tls?.options,
    });
    const health = new Health({
      ...{ stores, clock, log },
      obstacles: () => [
        isDraining ? 'shutting down' : undefined,
        tsdb?.obstacle,
        tsdb?.flushObstacle,
      ],
    });
    const refusing = new ObstacleLog(clock, log, [
      { what: 'commit log', obstacle: () => tsdb?.obstacle },
      { what: 'relational store', obstacle: () => stores.local.obstacle },
      { what: 'shared relational store', obstacle: () => stores.shared?.obstacle },
    ]);
    closers.push(() => refusing.close());
    const obstacle = (): Promise<string | undefined> => health.obstacle();
    const endpoints = createServiceEndpoints({
      ...{ clock, metrics, obstacle },
      routes: () => routes,
    });
    const partsOf = (service: ServiceName): ServiceParts => ({
      settings,
      stores,
      identity,
      outbox,
      reports,
      metrics,
      clock,
      random,
      log: log.child({ service }),
    });
    const tsdb = runs('tsdb') ? openTsdb(partsOf('tsdb'), obstacle) : undefined;
    // Before the folder is given back, and after everything that may still change the answer.
    closers.push(() => {
      if (tsdb?.usesFolder) around.folder.keep();
    });
    const webhooks = runs('webhooks') ? openWebhooks(partsOf('webhooks')) : undefined;
    const accounts = runs('accounts')
      ? openAccounts(partsOf('accounts'), accountListener(webhooks))
      : undefined;
    const rateLimit = runs('ratelimit') ? openRateLimit(partsOf('ratelimit')) : undefined;
    const gamedata = runs('gamedata') ? await openGameData(partsOf('gamedata')) : undefined;
    const services: HttpService[] = [
      // First: who comes back to a server with data asks for these at once.
      ...(tsdb ? [tsdb] : []),
      identity,
      ...(accounts ? [accounts] : []),
      ...(webhooks ? [webhooks] : []),
      ...(rateLimit ? [rateLimit] : []),
      ...(gamedata ? [gamedata] : []),
      createDocumentation(settings, log),
      endpoints,
    ];
    services.push(openBackup(partsOf('tsdb'), [...services]));
    await startServices(services, {
      first: identity,
      alongside: tsdb,
      onStart: (service) => closers.push(() => service.close()),
    });
    closers.push(() => outbox.close());
    await outbox.start();
    await around.folder.noteVersion();
    reports.open();
    // Without the time-series service there is no catalog, and the uuid is this process's.
    const clusterUuid = tsdb?.clusterUuid ?? random.uuidV4();
    const parts: HttpAppParts = {
      log,
      services,
      clusterUuid: () => clusterUuid,
      authenticate: (request, access) => identity.check(request, access),
      grants: (access, principal) => identity.grants(access, principal),
      cors: new Cors({
        isOpen: !settings.identity.without_auth,
        origins: settings.server.cors_origins,
      }),
      gate: around.gate ?? rateLimit?.gate,
      metrics: new HttpMetrics(metrics),
      isDraining: () => isDraining,
    };
    const app = createHttpApp(parts);
    let plainSide: PlainSide | undefined;
    return {
      app,
      clock,
      openPlainSide(keepAliveMs) {
        const routes = services.flatMap((service) => service.healthRoutes?.() ?? []);
        plainSide = openPlainSide(parts, clock, keepAliveMs);
        plainSide?.add(gatedRoutes(routes, parts.gate));
        return plainSide;
      },
      async registerRoutes(port) {
        routes = await registerServices(app, parts, {
          turn: () => whenAnswered({ clock, plainSide, port }),
          onRegistered(service) {
            const routes = service.plainRoutes?.() ?? [];
            if (plainSide === undefined || routes.length === 0) return;
            plainSide.add(gatedRoutes(routes, parts.gate));
            port.plainGrown();
          },
        });
        closers.push(() => app.close());
      },
      warmUp() {
        for (const service of services) service.warmUp?.();
      },
      useIdentity: ({ options }) => identity.useTls(options),
      beginDraining() {
        isDraining = true;
      },
      close,
    };
  } catch (error) {
    const explained = await around.folder.explain(error);
    await close();
    throw explained;
  }
}

/**
 * Starts all at once: what they ask of the store while it is busy is committed together. The others may ask `first` who
 * somebody is, so they wait for it; `alongside` asks nobody. Rejects when none of them is starting any more.
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
  // A turn later: the tables of those two come first, because they have most to do after that.
  await setImmediate();
  for (const service of services) service.prepare?.().catch(() => undefined); // It is told again by the start.
  const failed = (await settled).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** The names by which a gate knows what stands behind a front. */
const GATED_AS = { server: 'tsdb', operator: 'identity' } as const;

const gatedAs = ({ front }: PlainRoute): string =>
  typeof front === 'object' ? front.service : GATED_AS[front];

/** Without those that the framework has to see, because their gate cannot decide at once. */
const gatedRoutes = (
  routes: readonly PlainRoute[],
  gate: RequestGate | undefined,
): readonly GatedRoute[] =>
  routes.flatMap((route) =>
    route.methods.flatMap((method): GatedRoute[] => {
      const service = gatedAs(route);
      if (!gate?.covers(service)) return [{ route, method, gate: undefined }];
      const own = gate.plainGate(service, method, route.path);
      return own === undefined ? [] : [{ route, method, gate: own }];
    }),
  );

/** Request logs belong to the framework: with them it sees every request. */
function openPlainSide(
  parts: HttpAppParts,
  clock: Clock,
  keepAliveMs: number,
): PlainSide | undefined {
  const { log, metrics } = parts;
  if (log.isLevelEnabled('debug')) return undefined;
  const headerLines = {
    server: answerHeaderLines(parts.clusterUuid(), parts.cors),
    operator: OPERATOR_HEADER_LINES,
  };
  return new PlainSide(
    {
      ...{ clock, log },
      authenticate: parts.authenticate,
      grants: parts.grants,
      headerLines: (front) => headerLines[front],
      numbersOf: (method, path) => metrics.route(method, path),
      isDraining: () => parts.isDraining(),
    },
    keepAliveMs,
  );
}
