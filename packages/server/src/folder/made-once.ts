import { join } from 'node:path';
import type { FileSystem } from '@plinth/kernel';

/** Writes a file that only the server's own user may read, durable with its name. Whoever calls holds the folder. */
export async function makeOnce(
  files: FileSystem,
  at: { readonly folder: string; readonly name: string },
  text: string,
): Promise<void> {
  const path = join(at.folder, at.name);
  // What was begun earlier has served nobody.
  const temporary = `${path}.tmp`;
  await files.remove(temporary);
  const file = await files.open(temporary, 'wx', 'buffered', 'private');
  try {
    await file.write([Buffer.from(`${text}\n`)], 0);
    await file.sync();
  } finally {
    await file.close();
  }
  // Nobody else makes one meanwhile: the folder is locked.
  await files.rename(temporary, path);
  await files.syncDirectory(at.folder);
}
