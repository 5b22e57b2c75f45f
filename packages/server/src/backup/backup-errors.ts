import { errorCatalogue } from '@plinth/kernel';

export const backupError = errorCatalogue('BackupError', {
  backup_not_found:
    'there is no such backup, or no such file in it; a backup ends with the answer that began it',
  too_many_backups: 'other backups are being read; retry when they are done',
});
