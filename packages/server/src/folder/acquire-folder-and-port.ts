import { parseRecoveryBind } from '@plinth/identity';
import { type BindAddress, ConfigInvalid, messageOf, splitBind } from '@plinth/kernel';
import { type HeldPort, holdPort } from '../port/held-port.js';
import type { Settings } from '../settings.js';
import { DataFolder } from './data-folder.js';

/** The folder and port that one server owns. */
export interface FolderAndPort {
  readonly folder: DataFolder;
  readonly port: HeldPort;
}

/** Acquires both before anything is read or changed; a failure leaves the folder unchanged. */
export async function acquireFolderAndPort(settings: Settings): Promise<FolderAndPort> {
  const folder = await DataFolder.open(settings.server);
  try {
    const port = await holdPort(splitBind(settings.server.http_bind));
    try {
      await assertFree(furtherBinds(settings));
    } catch (error) {
      await port.release();
      throw error;
    }
    return { folder, port };
  } catch (error) {
    await folder.release();
    throw error;
  }
}

/** Returns the addresses that services will bind later. */
function furtherBinds({ server, identity, rateLimit }: Settings): readonly BindAddress[] {
  const recovery = identity.without_auth ? undefined : identity.admin_token_recovery_http_bind;
  const { envoy_host: host, envoy_port: port } = rateLimit;
  const hasEnvoy = rateLimit.enabled && server.services.includes('ratelimit');
  return [
    ...(recovery === undefined ? [] : [parseRecoveryBind(recovery)]),
    ...(hasEnvoy && port !== undefined ? [{ host, port }] : []),
  ];
}

/**
 * Throws `ConfigInvalid` for hosts that do not belong to this machine or cannot be resolved. Not used by `serve`,
 * which may be retried until the address is available.
 */
export async function assertHostsUsable(settings: Settings): Promise<void> {
  const problems: string[] = [];
  for (const { host } of [splitBind(settings.server.http_bind), ...furtherBinds(settings)]) {
    try {
      await (await holdPort({ host, port: 0 })).release();
    } catch (error) {
      problems.push(`this machine cannot listen on ${host}: ${messageOf(error)}`);
    }
  }
  if (problems.length > 0) throw new ConfigInvalid(problems);
}

async function assertFree(binds: readonly BindAddress[]): Promise<void> {
  for (const bind of binds) await (await holdPort(bind)).release();
}
