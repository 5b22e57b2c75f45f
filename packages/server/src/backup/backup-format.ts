/** The format version that this release writes, and the newest version that it reads. Layout: docs/formats/backup.md. */
export const BACKUP_FORMAT_VERSION = 2;
