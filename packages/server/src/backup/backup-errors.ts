import { errorCatalogue } from '@plinth/kernel';

export const backupError = errorCatalogue('BackupError', {
  backup_not_found: 'backup or file not found; a backup exists only while its response is open',
  too_many_backups: 'too many backups are being read; retry later',
});
