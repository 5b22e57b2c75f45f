import type { Manifest } from '@plinth/server/backup/backup-folder.js';
import { printNote } from './terminal.js';

/** Prints what the backup does not contain. */
export function printLeftOut({ left_out }: Manifest): void {
  for (const sentence of left_out ?? []) {
    printNote(`plinth: not in the backup: ${sentence}\n`);
  }
}
