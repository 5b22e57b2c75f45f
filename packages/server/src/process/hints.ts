/** Fix for a corrupt `plinth.db` that a repair cannot rebuild. */
export const RESTORE_HINT = `All services keep their state in this file. Restore a snapshot (\`plinth snapshot --data-dir FOLDER\` lists them) or
  a backup (\`plinth restore\`).`;

/** Fix for a corrupt `plinth.db`. */
export const CORRUPT_HINT = `${RESTORE_HINT} If only indexes or free pages are corrupt, start once with --repair, which rebuilds the file.`;

/** Consequence and fix for lost transactions of `plinth.db`, which can contain revocations. */
export const LOST_CHANGES_HINT =
  'Lost changes after this position can concern tokens, users, databases, tables, and the list of segments. Rows in unlisted ' +
  'segments are quarantined in objects/tsdb-unknown. List the tokens and users, and repeat the last changes, such as revocations; ' +
  'or restore a snapshot or a backup.';

/** Fix for corrupt row or log files. */
export const DAMAGE_HINT = `
  Restore the file from a copy, or start once with --repair, which quarantines the corrupt file, keeps intact data and
  logs what was lost.`;

/** Fix for a corrupt backup. */
export const BACKUP_HINT = `
  If the backup was copied to this folder, copy it again. Otherwise, use another backup, and create a new one now (\`plinth backup\`).`;
