import {
  ConfigInvalid,
  createLogger,
  givenWithoutEffect,
  type LogDestination,
  loadSettings,
  type RequestGate,
  type SettingsSources,
} from '@plinth/kernel';
import { listen, type ServerAddress } from './listener.js';
import { levelOfFilter } from './log-filter.js';
import { NO_TLS, SETTINGS, type Settings } from './settings.js';
import { wireUp } from './wire-up.js';

export interface StartOptions {
  readonly settings: Settings;
  /** Standard error unless told otherwise: standard output belongs to commands. */
  readonly logDestination?: LogDestination;
  readonly gate?: RequestGate;
}

export interface RunningServer {
  readonly address: ServerAddress;
  /**
   * Stops accepting, lets running requests end (at most `shutdown_timeout_ms`), closes services in reverse order.
   * Twice is harmless; an aborted `force` cuts the waiting short.
   */
  close(force?: AbortSignal): Promise<void>;
}

/** All settings from flags, environment and file. Throws `ConfigInvalid` with every problem. */
export function readSettings(sources: SettingsSources): Settings {
  return loadSettings(SETTINGS, sources);
}

/** Starts a whole server; when it resolves, the port answers. */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  const { settings } = options;
  refuseUnmetTls(settings);
  const { log_level, log_filter, http_bind, node_id, shutdown_timeout_ms } = settings.server;
  const log = createLogger({
    level: levelOfFilter(log_filter) ?? log_level,
    destination: options.logDestination ?? 2,
  });
  const ignored = givenWithoutEffect(Object.values(SETTINGS), settings);
  if (ignored.length > 0) log.warn({ ignored }, 'settings without effect');
  const wired = await wireUp(settings, log.child({ node: node_id }), options.gate);
  try {
    const listener = await listen(wired.app, http_bind, wired.clock);
    log.info({ address: listener.address.url }, 'server listens');
    wired.warmUp();
    let closing: Promise<void> | undefined;
    return {
      address: listener.address,
      close(force) {
        closing ??= (async () => {
          wired.beginDraining();
          await listener.drain(shutdown_timeout_ms, force);
          await wired.close();
          log.info('server closed');
        })();
        return closing;
      },
    };
  } catch (error) {
    await wired.close();
    throw error;
  }
}

/** Whoever gives a key believes that nobody can read along: a warning would not be enough. */
function refuseUnmetTls({ server }: Settings): void {
  const given = [
    ...(server.tls_key === undefined ? [] : ['--tls-key']),
    ...(server.tls_cert === undefined ? [] : ['--tls-cert']),
  ];
  if (given.length === 0) return;
  throw new ConfigInvalid(given.map((flag) => `${flag}: ${NO_TLS}`));
}
