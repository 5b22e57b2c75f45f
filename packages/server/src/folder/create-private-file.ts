import { join } from 'node:path';
import type { FileSystem } from '@plinth/kernel';

/** Creates a durable file that only the server's user can read. The caller must hold the folder lock. */
export async function createPrivateFile(
  files: FileSystem,
  options: { readonly folder: string; readonly name: string },
  text: string,
): Promise<void> {
  const path = join(options.folder, options.name);
  // A file from an interrupted call was never used.
  const temporary = `${path}.tmp`;
  await files.remove(temporary);
  const file = await files.open(temporary, 'wx', 'buffered', 'private');
  try {
    await file.write([Buffer.from(`${text}\n`)], 0);
    await file.sync();
  } finally {
    await file.close();
  }
  // No other process can create the file: the folder is locked.
  await files.rename(temporary, path);
  await files.syncDirectory(options.folder);
}
