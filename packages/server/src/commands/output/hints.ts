/** What helps when `plinth.db` is corrupt. */
export const CORRUPT_HINT = `All services keep their state in this file. Restore a snapshot (\`plinth snapshot --data-dir FOLDER\` lists them) or
  a backup (\`plinth restore\`). If only indexes or free pages are corrupt, start once with --repair, which rebuilds the file.`;

/** What helps when files of rows or of the log are damaged. */
export const DAMAGE_HINT = `
  Restore the file from a copy, or start once with --repair: it moves the damaged file aside, keeps what is intact and
  logs what was lost.`;
