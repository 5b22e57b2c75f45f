import { join } from 'node:path';
import { createGameData, type GameData } from '@plinth/gamedata';
import { type CountTogether, CredentialUncheckable } from '@plinth/kernel';
import type { ServiceParts } from './service-parts.js';

/** @param countTogether where nodes count together what is wrong. */
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
      try {
        const headers = { authorization: `Bearer ${token}` };
        const principal = identity.checkAdmin({ headers });
        return principal.kind === 'admin' ? { name: principal.tokenName } : undefined;
      } catch (error) {
        if (error instanceof CredentialUncheckable) throw error;
        // Whatever else is wrong with it, it is no admin token.
        return undefined;
      }
    },
  });
}
