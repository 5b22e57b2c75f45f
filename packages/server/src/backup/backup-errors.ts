import { errorCatalogue } from '@plinth/kernel';

export const backupError = errorCatalogue('BackupError', {
  backup_not_found: 'backup or file not found; a backup exists only while its response is open',
  too_many_backups: (details: { readonly running: string }) =>
    `too many backups are in progress (${details.running}); retry later`,
});
