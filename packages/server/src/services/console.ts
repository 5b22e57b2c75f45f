import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type HttpHead, type HttpService, LogRing } from '@plinth/kernel';
import { createConsole } from '../console/console-service.js';
import type { ConventionsDirectory } from '../http/conventions-directory.js';
import { BuiltFiles } from '../http/files/built-files.js';
import { openConventions } from '../http/open-conventions.js';
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
  readonly conventionsDirectory: ConventionsDirectory;
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
  const { conventionsDirectory, ring = new LogRing(), levels, obstacle } = deps;
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
  const live = createLive({ conventions: identity.conventions, clock, isAdmin });
  live.add([healthSource({ clock, log, obstacle })]);
  const services = [
    createServerInfo({
      conventions: identity.conventions,
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
    createDownloads({ conventions: identity.conventions, clock, random }),
    createSettingsAndLogs({ conventions: identity.conventions, settings, ring, levels, log }),
    createConsole({
      files,
      conventions: openConventions({ service: 'console', path: '/console', log }),
      conventionsOf: (path) => conventionsDirectory.find(path),
      random,
    }),
    live,
  ];
  return { services, live };
}
