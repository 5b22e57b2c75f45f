import { join } from 'node:path';
import { createGameData, type GameData } from '@plinth/gamedata';
import type { CountTogether } from '@plinth/kernel';
import type { ServiceParts } from './service-parts.js';

/** @param countTogether counts failed logins across nodes. */
export async function openGameData(
  parts: ServiceParts,
  countTogether: CountTogether | undefined,
): Promise<GameData> {
  const { settings, stores, identity, outbox, metrics, clock, random, log } = parts;
  return await createGameData({
    settings: settings.gamedata,
    relational: stores.relational,
    objects: stores.objects,
    local: stores.local,
    fileSystem: stores.files,
    folder: join(stores.dataDir, 'gamedata'),
    outbox,
    metrics,
    clock,
    random,
    log,
    ...(countTogether !== undefined && { countTogether }),
    ownsRoot: !settings.server.services.includes('tsdb'),
    findAdmin(token) {
      const principal = identity.accessControl.findAdmin({
        headers: { authorization: `Bearer ${token}` },
      });
      return principal?.kind === 'admin' ? { name: principal.tokenName } : undefined;
    },
  });
}
