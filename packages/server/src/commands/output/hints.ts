/** What helps when `plinth.db` is corrupt. */
export const CORRUPT_HINT = `All services keep their state in this file. Restore a snapshot (\`plinth snapshot --data-dir FOLDER\` lists them) or
  a backup (\`plinth restore\`). If only indexes or free pages are corrupt, start once with --repair, which rebuilds the file.`;
