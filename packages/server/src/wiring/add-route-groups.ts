import type { Counter, FreeDiskSpace, HttpService, RequestGate, Route } from '@plinth/kernel';
import type { ConventionsDirectory } from '../http/conventions-directory.js';
import type { HttpMetrics } from '../http/http-metrics.js';
import type { Router } from '../http/router.js';
import type { AuditLog } from '../operator/audit-log.js';
import { audited } from '../operator/audited-requests.js';
import { refusedWhenFull } from '../operator/full-disk-requests.js';

/** Registers a service's routes with router, conventions directory and limiter. */
export async function addRouteGroups(
  service: HttpService,
  to: {
    readonly router: Router;
    readonly conventionsDirectory: ConventionsDirectory;
    readonly gate: RequestGate | undefined;
    readonly httpMetrics: HttpMetrics;
    readonly audit: AuditLog;
    /** `undefined`: the service stores no data on the disk of the data folder. */
    readonly diskSpace: FreeDiskSpace | undefined;
    readonly refusals: Counter;
  },
): Promise<void> {
  const { audit, diskSpace, refusals } = to;
  const wrapped = (route: Route): Route =>
    audited(diskSpace === undefined ? route : refusedWhenFull(route, diskSpace, refusals), audit);
  for (const given of await service.routeGroups()) {
    const table = { ...given, routes: given.routes.map(wrapped) };
    const { conventions, routes } = table;
    to.conventionsDirectory.add(conventions);
    if (to.gate?.covers(service.name)) to.gate.registerRoutes(service.name, routes);
    for (const route of routes) {
      to.router.add(service.name, table, route, (method) =>
        to.httpMetrics.route(method, route.path),
      );
    }
  }
}
