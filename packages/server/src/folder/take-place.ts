import { parseRecoveryBind } from '@plinth/identity';
import { type BindAddress, splitBind } from '@plinth/kernel';
import { type HeldPort, holdPort } from '../port/held-port.js';
import type { Settings } from '../settings.js';
import { DataFolder } from './data-folder.js';

/** What one server has for itself. */
export interface Place {
  readonly folder: DataFolder;
  readonly port: HeldPort;
}

/** Before anything is read or changed: whoever cannot have both leaves the folder as it was. */
export async function takePlace(settings: Settings): Promise<Place> {
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

/** Addresses that services open by themselves, later. */
function furtherBinds({ server, identity, rateLimit }: Settings): readonly BindAddress[] {
  const recovery = identity.without_auth ? undefined : identity.admin_token_recovery_http_bind;
  const { envoy_host: host, envoy_port: port } = rateLimit;
  const hasEnvoy = rateLimit.enabled && server.services.includes('ratelimit');
  return [
    ...(recovery === undefined ? [] : [parseRecoveryBind(recovery)]),
    ...(hasEnvoy && port !== undefined ? [{ host, port }] : []),
  ];
}

async function assertFree(binds: readonly BindAddress[]): Promise<void> {
  for (const bind of binds) await (await holdPort(bind)).release();
}
