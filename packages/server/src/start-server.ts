import type { Worker } from 'node:worker_threads';
import {
  type Clock,
  createLogger,
  givenWithoutEffect,
  type LogDestination,
  LogRing,
  loadSettings,
  networkMatcher,
  type SettingsSources,
} from '@plinth/kernel';
import { checkSettings } from './check-settings.js';
import { acquireFolderAndPort } from './folder/acquire-folder-and-port.js';
import { ConnectionLimit } from './port/limits/connection-limit.js';
import { listen, type ServerAddress } from './port/listener.js';
import { readTlsIdentity, type TlsIdentity, tlsSettingsOf } from './port/tls/tls-identity.js';
import { stopTimes } from './process/hard-end.js';
import { levelOfFilter } from './process/log-filter.js';
import { LogLevels } from './process/log-levels.js';
import { readProduct } from './product-version.js';
import { SETTINGS, type Settings } from './settings.js';
import { wireUp } from './wire-up.js';

export interface StartOptions {
  readonly settings: Settings;
  /** Default: standard error, because commands use standard output. */
  readonly logDestination?: LogDestination;
  /**
   * Returns a thread of the relational store that was started while the program loaded; `undefined` if there is none. Called once.
   */
  readonly takeStoreThread?: () => Worker | undefined;
  /** Default: the time of this machine. */
  readonly clock?: Clock | undefined;
}

export interface RunningServer {
  readonly address: ServerAddress;
  /** Whether the first admin token has not been created yet. */
  readonly isFirstTokenFree: boolean;
  /**
   * With TLS, reads key and certificate again for new handshakes. Invalid files change nothing. Logs what was reloaded.
   * Never rejects.
   */
  reload(): Promise<void>;
  /** Logs at `debug`, or at the configured level again. */
  toggleDebugLog(): void;
  /**
   * Stops accepting connections, lets running requests finish (for most of `shutdown_timeout_ms`), and closes services in reverse
   * order. Can be called twice. An aborted `force` skips the waiting.
   */
  close(force?: AbortSignal): Promise<void>;
}

/** Reads all settings from flags, environment and file. Throws `ConfigInvalid` with every problem. */
export function readSettings(sources: SettingsSources): Settings {
  return loadSettings(SETTINGS, sources);
}

/** Starts a complete server. Resolves when the port accepts requests. */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  const { settings } = options;
  const tls = tlsSettingsOf(settings.server);
  const identity = await checkSettings(settings); // Nothing starts with an invalid combination.
  const { log_level, log_filter, node_id } = settings.server;
  const { proxy_protocol, trusted_proxies } = settings.server;
  const ring = new LogRing();
  const levels = new LogLevels(levelOfFilter(log_filter) ?? log_level);
  const log = createLogger({
    onLine: (line) => ring.add(line),
    onChild: (child) => levels.add(child),
    level: levels.level,
    destination: options.logDestination ?? 2,
    isText: isTextLog(settings, options.logDestination),
  });
  levels.add(log);
  const ignored = givenWithoutEffect(Object.values(SETTINGS), settings);
  if (ignored.length > 0) log.warn({ ignored }, 'settings without effect');
  const { folder, port } = await acquireFolderAndPort(settings);
  const wired = await wireUp(settings, log.child({ node: node_id }), {
    folder,
    ring,
    levels,
    tls: identity,
    takeStoreThread: options.takeStoreThread,
    clock: options.clock,
  }).catch(async (error: unknown) => {
    await port.release();
    throw error;
  });
  try {
    const isTrusted = networkMatcher(trusted_proxies);
    const takesPlainText = settings.server.tls_plaintext === 'allow';
    const listener = await listen({
      ...wired,
      port,
      log,
      tls: identity && { identity, takesPlainText },
      isProxy: proxy_protocol ? isTrusted : undefined,
      limit: new ConnectionLimit(settings.server.max_connections_per_address, isTrusted),
    });
    if (identity !== undefined) log.info(factsOf(identity), 'TLS certificate in use');
    const { url, bound } = listener.address;
    const { version, commit } = readProduct();
    log.info({ address: url, bound, version, commit }, 'server listens');
    wired.warmUp();
    let closing: Promise<void> | undefined;
    return {
      address: listener.address,
      isFirstTokenFree: wired.isFirstTokenFree(),
      async reload() {
        const reloaded: string[] = [];
        try {
          if (tls !== undefined) {
            const renewed = await readTlsIdentity(tls);
            listener.useIdentity(renewed);
            wired.useIdentity(renewed);
            log.info(factsOf(renewed), 'TLS certificate in use');
            reloaded.push('TLS certificate');
          }
        } catch (err) {
          log.error({ err }, 'TLS certificate not renewed; the previous one stays in use');
        }
        log.info({ reloaded }, 'SIGHUP handled; settings are read only at startup');
      },
      toggleDebugLog() {
        log.warn({ logLevel: levels.toggleDebug() }, 'log level changed');
      },
      close(force) {
        closing ??= (async () => {
          wired.beginDraining();
          const { noticeMs, drainMs } = stopTimes(settings.server);
          // Gives load balancers time to detect the shutdown before the first request fails.
          if (noticeMs > 0) await wired.clock.sleep(noticeMs, force).catch(() => undefined);
          await listener.drain(drainMs, force);
          await wired.close();
          log.info('server closed');
        })();
        return closing;
      },
    };
  } catch (error) {
    await port.release();
    await wired.close();
    throw error;
  }
}

function isTextLog(
  { server: { log_format } }: Settings,
  destination: LogDestination | undefined,
): boolean {
  if (log_format !== undefined) return log_format !== 'json';
  return destination === undefined && process.stderr.isTTY;
}

const factsOf = ({ subject, validTo }: TlsIdentity) => ({ subject, validTo });
