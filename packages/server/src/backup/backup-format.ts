/** What this release writes and the newest that it reads. Layout: docs/formats/backup.md. */
export const BACKUP_FORMAT_VERSION = 2;
