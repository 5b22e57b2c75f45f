import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileSystem, Random } from '@plinth/kernel';
import { createPrivateFile } from './create-private-file.js';

export const FOLDER_ID_FILE = 'folder.id';

export const isFolderId = (text: string): boolean =>
  /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\n?$/.test(text);

/**
 * Identifies a data folder among the nodes of a shared store. It allows a process to find the entries that an earlier
 * process on the same folder left in the store. Backups do not contain it, so that a restored copy counts as a
 * different folder.
 */
export async function readFolderId(
  folder: string,
  files: FileSystem,
  random: Random,
): Promise<string> {
  const stored = await readFile(join(folder, FOLDER_ID_FILE), 'utf8').catch(() => '');
  if (stored.trim() !== '') return stored.trim();
  const id = random.uuidV7();
  await createPrivateFile(files, { folder, name: FOLDER_ID_FILE }, id);
  return id;
}
