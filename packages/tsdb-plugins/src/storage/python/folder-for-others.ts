import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FileSystem } from '@plinth/kernel';

/**
 * Creates the folder and its missing parents, so that other users can read and enter them,
 * regardless of the umask.
 */
export async function makeFolderForOthers(files: FileSystem, path: string): Promise<void> {
  const missing: string[] = [];
  for (let each = path; (await files.stat(each)) === undefined; each = dirname(each)) {
    missing.push(each);
  }
  await files.makeDirectory(path);
  for (const each of missing) await chmod(each, 0o755);
}
