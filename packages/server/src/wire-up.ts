import {
  BodyBudget,
  type Clock,
  type Logger,
  type LogRing,
  type Metrics,
  machineMemoryBytes,
} from '@plinth/kernel';
import type { DataFolder } from './folder/data-folder.js';
import { describeAll } from './http/docs/describe-apis.js';
import { HttpMetrics } from './http/http-metrics.js';
import { Pipeline } from './http/pipeline.js';
import { linesOf } from './port/fast/fast-reader.js';
import { RefusedConnections } from './port/limits/refused-connections.js';
import type { Served } from './port/listener.js';
import type { TlsIdentity } from './port/tls/tls-identity.js';
import { LogLevels } from './process/log-levels.js';
import { openAccessLog } from './process/open-access-log.js';
import type { Settings } from './settings.js';
import { addRouteGroups } from './wiring/add-route-groups.js';
import { Closers } from './wiring/closers.js';
import { type Foundation, openFoundation, type TakeStoreThread } from './wiring/open-foundation.js';
import { type OpenServices, openServices, type ServerState } from './wiring/open-services.js';
import { startServices } from './wiring/start-services.js';

/** Share of the available memory for request bodies. */
const PART_FOR_BODIES = 1 / 8;
const LEAST_FOR_BODIES_BYTES = 128 * 1024 * 1024;

/** A server whose services have started; it does not listen yet. */
export interface WiredServer extends Served {
  /** Returns the OpenAPI descriptions by name. */
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
    readonly takeStoreThread?: TakeStoreThread | undefined;
    readonly clock?: Clock | undefined;
  },
): Promise<WiredServer> {
  log.debug({ services: settings.server.services }, 'server starts');
  const {
    folder,
    ring,
    levels = new LogLevels(settings.server.log_level),
    takeStoreThread,
    clock,
  } = around;
  const state: ServerState = { isDraining: false, certificate: around.tls, clusterUuid: '' };
  const closers = new Closers();
  closers.add(() => folder.release());
  try {
    const base = await openFoundation({ settings, log, folder, takeStoreThread, clock }, closers);
    const services = await openServices(base, { state, ring, levels }, closers);
    const { identity, tsdb, conventions, router } = services;
    const refused = new RefusedConnections(base);
    await startServices(services.all, {
      first: identity,
      alongside: tsdb,
      onStart: (service) => closers.add(() => service.close()),
    });
    closers.add(() => base.outbox.close());
    await base.outbox.start();
    await folder.noteVersion();
    base.reports.open();
    // The uuid comes from the local relational store; without the time-series service it is specific to the process.
    state.clusterUuid = tsdb?.clusterUuid ?? base.random.uuidV4();
    const pipeline = await openPipeline(base, services, closers);
    return {
      ...{ pipeline, refused },
      ...{ addresses: base.addresses, clock: base.clock, metrics: base.metrics },
      descriptions: () => describeAll(router.registered),
      longQueryPaths: new Set(
        router.registered.flatMap(({ route }) =>
          route.takesLongQuery === true ? [route.path] : [],
        ),
      ),
      headerLines: () => linesOf(conventions.headersFor(undefined)),
      isDraining: () => state.isDraining,
      isFirstTokenFree: () => identity.accessControl.isFirstTokenFree(),
      warmUp() {
        for (const service of services.all) service.warmUp?.();
      },
      useIdentity(renewed) {
        state.certificate = renewed;
        identity.useTls(renewed.options);
      },
      beginDraining() {
        state.isDraining = true;
        for (const service of services.all) service.beginDraining?.();
      },
      close: () => closers.close(),
    };
  } catch (error) {
    const explained = await folder.explain(error);
    // The cause of a failed start can also make closing fail; the cause is what gets reported.
    await closers
      .close()
      .catch((err: unknown) => log.debug({ err }, 'cleanup after a failed start is incomplete'));
    throw explained;
  }
}

/** Registers the routes of all services and puts the request pipeline in front of them. */
async function openPipeline(
  base: Foundation,
  services: OpenServices,
  closers: Closers,
): Promise<Pipeline> {
  const { settings, metrics, clock, log, space, audit } = base;
  const { router, conventionsDirectory, gate, identity, live } = services;
  const httpMetrics = new HttpMetrics(metrics);
  const refusals = metrics.counter({
    name: 'plinth_data_disk_refused_requests_total',
    help: 'Write requests rejected because less than `storage.min_free_bytes` is free.',
  });
  for (const service of services.all) {
    // With a shared database, only the time-series service stores data on this disk.
    const isOnDisk = base.stores.shared === undefined || service.name === 'tsdb';
    const diskSpace = isOnDisk ? space : undefined;
    await addRouteGroups(service, {
      router,
      conventionsDirectory,
      gate,
      httpMetrics,
      audit,
      diskSpace,
      refusals,
    });
    live.add((await service.liveSources?.()) ?? []);
  }
  const bodies = new BodyBudget(
    clock,
    settings.server.max_body_memory_bytes ??
      Math.max(LEAST_FOR_BODIES_BYTES, Math.floor(machineMemoryBytes() * PART_FOR_BODIES)),
  );
  closers.add(() => bodies[Symbol.dispose]());
  space.logIfFull();
  const accessLog = openAccessLog(settings.server, clock, log);
  if (accessLog !== undefined) closers.add(() => accessLog.close());
  return new Pipeline({
    accessLog: accessLog?.log,
    spans: base.traces.spans,
    ...{ router, conventionsDirectory, gate, bodies, clock, log },
    grants: (access, principal) => identity.accessControl.grants(access, principal),
    unmatched: httpMetrics.unmatched,
  });
}
