import type { HttpService } from '@plinth/kernel';
import type { Tsdb } from '@plinth/tsdb';
import { createBackupService } from '../backup/backup-routes.js';
import { Backups } from '../backup/backups.js';
import type { ServiceParts } from './service-parts.js';

/** Backups of the whole node; its files are those of the time-series service. */
export function openBackup(parts: ServiceParts, tsdb: Tsdb): HttpService {
  const { stores, clock, random, log, settings } = parts;
  const hasExternalDatabase = settings.server.database_url !== undefined;
  return createBackupService(
    new Backups({ stores, tsdb, clock, random, log, hasExternalDatabase }),
  );
}
