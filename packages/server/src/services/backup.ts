import type { HttpService } from '@plinth/kernel';
import { AUDIT } from '../backup/backed-up-files.js';
import { createBackupService } from '../backup/backup-routes.js';
import { Backups } from '../backup/backups.js';
import { ScheduledBackups } from '../backup/scheduled-backups.js';
import type { ServiceParts } from './service-parts.js';

/** Opens the backups of the complete node, with any set of services. */
export function openBackup(parts: ServiceParts, services: readonly HttpService[]): HttpService {
  const { stores, identity, audit, clock, random, log, metrics } = parts;
  const leftOut = dataNotInBackups(parts);
  const freezing = [...services, { name: AUDIT, freeze: audit.freeze.bind(audit) }];
  const backups = new Backups({ stores, services: freezing, leftOut, clock, random, log });
  const scheduled = ScheduledBackups.of(parts.settings.backup, { backups, clock, log, metrics });
  return createBackupService(backups, { scheduled, clock, conventions: identity.conventions });
}

function dataNotInBackups({ settings, stores }: ServiceParts): readonly string[] {
  const { server } = settings;
  return [
    ...(stores.shared === undefined
      ? []
      : [
          'accounts with their keys, tokens, webhooks, limits and game data: stored in PostgreSQL; back it up with its own tools',
        ]),
    ...(server.master_key !== undefined || server.master_key_file !== undefined
      ? ['the master key: configured by a setting; use the same key for the restored server']
      : []),
    'rate limit counters: they restart at zero',
  ];
}
