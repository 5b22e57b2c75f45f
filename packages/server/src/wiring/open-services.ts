import type { Identity } from '@plinth/identity';
import { type ApiConventions, Cors, type HttpService, type RequestGate } from '@plinth/kernel';
import type { Tsdb } from '@plinth/tsdb';
import { Health } from '../health.js';
import { ConventionsDirectory } from '../http/conventions-directory.js';
import { describeOne } from '../http/docs/describe-apis.js';
import { createDocumentation } from '../http/docs/documentation.js';
import { Router } from '../http/router.js';
import { servedHere, unservedConventions } from '../http/served-here.js';
import { serverConventions } from '../http/server-conventions.js';
import { createServiceEndpoints } from '../http/service-endpoints.js';
import { observeServer } from '../metrics/server-metrics.js';
import type { LiveService } from '../operator/live/live-service.js';
import type { TlsIdentity } from '../port/tls/tls-identity.js';
import { ObstacleLog } from '../process/obstacle-log.js';
import { openAccounts } from '../services/accounts.js';
import { openBackup } from '../services/backup.js';
import { type ConsoleDeps, openConsole } from '../services/console.js';
import { openGameData } from '../services/gamedata.js';
import { openIdentity } from '../services/identity.js';
import { openRateLimit } from '../services/ratelimit.js';
import type { ServiceParts } from '../services/service-parts.js';
import { openTsdb } from '../services/tsdb.js';
import { accountListener, openWebhooks } from '../services/webhooks.js';
import type { ServiceName } from '../settings.js';
import type { Closers } from './closers.js';
import type { Foundation } from './open-foundation.js';

/** State that changes while the server runs. */
export interface ServerState {
  isDraining: boolean;
  certificate: TlsIdentity | undefined;
  /** Empty until the services have started. */
  clusterUuid: string;
}

/** All services, opened but not started. */
export interface OpenServices {
  /** In the order in which they start. */
  readonly all: readonly HttpService[];
  readonly identity: Identity;
  readonly tsdb: Tsdb | undefined;
  readonly gate: RequestGate | undefined;
  readonly live: LiveService;
  /** The API conventions of paths without a service. */
  readonly conventions: ReturnType<typeof serverConventions>;
  readonly conventionsDirectory: ConventionsDirectory;
  /** Without routes until the services have started. */
  readonly router: Router;
}

export async function openServices(
  base: Foundation,
  given: { readonly state: ServerState } & Pick<ConsoleDeps, 'ring' | 'levels'>,
  closers: Closers,
): Promise<OpenServices> {
  const { settings, stores, metrics, clock, log, traces } = base;
  const { state } = given;
  const runs = (name: ServiceName): boolean => settings.server.services.includes(name);
  const conventions = serverConventions({
    identify: (request, access) => identity.accessControl.authenticate(request, access),
    clusterUuid: () => state.clusterUuid,
    cors: new Cors({
      // Without authentication, only the configured origins may read responses.
      origins: settings.server.cors_origins ?? (settings.identity.without_auth ? [] : '*'),
      methods: '*',
      requestHeaders: '*',
      maxAgeSec: 86_400,
    }),
    log,
  });
  const { random, reports, audit } = base;
  const identity = openIdentity({
    ...{ settings, stores, clock, random, log, conventions, reports, audit },
    countTogether: (guesser, windowMs) =>
      rateLimit?.countWrongLogins('passwords')(guesser, windowMs),
    tls: state.certificate?.options,
  });
  const health = new Health({
    ...base,
    obstacles: () => [
      state.isDraining ? 'shutting down' : undefined,
      base.space.obstacle?.message,
      base.catalogCheck.obstacle,
      tsdb?.obstacle,
      tsdb?.flushObstacle,
      gamedata?.obstacle,
    ],
  });
  const refusing = new ObstacleLog(clock, log, [
    { what: 'disk', obstacle: () => base.space.obstacle?.message },
    { what: 'commit log', obstacle: () => tsdb?.obstacle },
    { what: 'relational store', obstacle: () => stores.local.obstacle },
    { what: 'shared relational store', obstacle: () => stores.shared?.obstacle },
  ]);
  closers.add(() => refusing.close());
  const obstacle = (): Promise<string | undefined> => health.obstacle();
  observeServer(metrics, {
    ...{ stores, health, outbox: base.outbox, diskSpace: base.space },
    folder: base.folder.path,
    certificateExpiryMs: () => state.certificate && Date.parse(state.certificate.validTo),
  });
  const partsOf = (service: ServiceName): ServiceParts => ({
    ...base,
    ...{ identity, conventions },
    metrics: metrics.part(service),
    tracer: traces.tracer,
    currentSpan: traces.currentSpan,
    log: log.child({ service }),
  });
  const tsdb = runs('tsdb') ? openTsdb(partsOf('tsdb'), obstacle) : undefined;
  // Runs before the folder is released, and after every part that may still change the result.
  closers.add(() => {
    if (tsdb?.usesFolder) base.folder.keepLocked();
  });
  const webhooks = runs('webhooks') ? openWebhooks(partsOf('webhooks')) : undefined;
  const accounts = runs('accounts')
    ? openAccounts(partsOf('accounts'), accountListener(webhooks))
    : undefined;
  const rateLimit = runs('ratelimit') ? openRateLimit(partsOf('ratelimit')) : undefined;
  const gamedata = runs('gamedata')
    ? await openGameData(partsOf('gamedata'), rateLimit?.countWrongLogins('gamedata'))
    : undefined;
  const router = new Router();
  const services: readonly HttpService[] = [
    // First: returning clients of a server with data request these at once.
    ...[tsdb, identity, accounts, webhooks, rateLimit, gamedata].filter(
      (service) => service !== undefined,
    ),
    createDocumentation(settings, log, (name) => describeOne(name, router.registered)),
    createServiceEndpoints({
      ...{ clock, metrics, obstacle, conventions },
      operatorConventions: identity.conventions,
      routes: () => router.routes,
    }),
  ];
  const conventionsDirectory = openConventions(conventions, router);
  const pages = openConsole(partsOf('tsdb'), { ...given, conventionsDirectory, obstacle });
  return {
    all: [...services, openBackup(partsOf('tsdb'), services), ...pages.services],
    ...{
      identity,
      tsdb,
      gate: rateLimit?.gate,
      live: pages.live,
      conventions,
      conventionsDirectory,
      router,
    },
  };
}

/** Creates the API conventions by path; a path without a service gets `conventions` with a list of the served paths. */
function openConventions(conventions: ApiConventions, router: Router): ConventionsDirectory {
  let served: ReturnType<typeof servedHere> | undefined;
  const conventionsDirectory: ConventionsDirectory = new ConventionsDirectory(
    unservedConventions(
      conventions,
      () => (served ??= servedHere(router.routes, conventionsDirectory)),
    ),
  );
  conventionsDirectory.add(conventions);
  return conventionsDirectory;
}
