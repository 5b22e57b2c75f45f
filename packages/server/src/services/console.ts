import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type HttpHead, type HttpService, LogRing } from '@plinth/kernel';
import { createConsole } from '../console/console-service.js';
import type { DialectDirectory } from '../http/dialect-directory.js';
import { BuiltFiles } from '../http/files/built-files.js';
import { openDialect } from '../http/open-dialect.js';
import { createDownloads } from '../operator/downloads.js';
import { healthSource } from '../operator/live/health-source.js';
import { createLive, type LiveService } from '../operator/live/live-service.js';
import { createServerInfo } from '../operator/server-info.js';
import { createSettingsAndLogs } from '../operator/settings-and-logs.js';
import type { LogLevels } from '../process/log-levels.js';
import { readVersion } from '../product-version.js';
import { SERVICE_NAMES } from '../settings.js';
import type { ServiceParts } from './service-parts.js';

/** Build folder of the console package, which contains no Node code. */
const FOLDER = fileURLToPath(new URL('../../../console/dist/site', import.meta.url));

export interface ConsoleDeps {
  readonly dialects: DialectDirectory;
  /** The last lines of the log. */
  readonly ring: LogRing | undefined;
  readonly levels: LogLevels;
  /** Returns why the server is not ready. */
  obstacle(): Promise<string | undefined>;
}

/** Opens the web console and its server-wide routes. */
export function openConsole(
  parts: ServiceParts,
  deps: ConsoleDeps,
): { readonly services: readonly HttpService[]; readonly live: LiveService } {
  const { settings, stores, identity, clock, random, log } = parts;
  const { dialects, ring = new LogRing(), levels, obstacle } = deps;
  const { services: running, node_id, public_url } = settings.server;
  const files = new BuiltFiles(FOLDER);
  const isAuthRequired = !settings.identity.without_auth;
  const isAdmin = (request: HttpHead): boolean => {
    try {
      return identity.accessControl.findAdmin(request) !== undefined;
    } catch {
      return false; // Without a reachable store the token cannot be checked.
    }
  };
  const live = createLive({ dialect: identity.dialect, clock, isAdmin });
  live.add([healthSource({ clock, log, obstacle })]);
  const services = [
    createServerInfo({
      dialect: identity.dialect,
      clock,
      facts: {
        version: readVersion(),
        isAuthRequired,
        services: SERVICE_NAMES.filter((name) => running.includes(name)),
        inner: {
          node_id,
          cores: availableParallelism(),
          relational_store: stores.relational.system,
          ...(public_url !== undefined && { public_url }),
        },
      },
      isAdmin,
      firstTokenState: (request) => identity.firstTokenState(request),
      build: () => files.build(),
    }),
    createDownloads({ dialect: identity.dialect, clock, random }),
    createSettingsAndLogs({ dialect: identity.dialect, settings, ring, levels, log }),
    createConsole({
      files,
      dialect: openDialect({ service: 'console', path: '/console', log }),
      dialectOf: (path) => dialects.find(path),
      random,
    }),
    live,
  ];
  return { services, live };
}
