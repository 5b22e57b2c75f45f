import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileSystem, Random } from '@plinth/kernel';
import { makeOnce } from './made-once.js';

const NAME = 'folder.id';

/**
 * The name of a data folder among all nodes that share a store: whoever holds the folder knows by it what an earlier process
 * that held it has left there. No backup has it, so that a copy elsewhere is another folder.
 */
export async function readFolderId(
  folder: string,
  files: FileSystem,
  random: Random,
): Promise<string> {
  const kept = await readFile(join(folder, NAME), 'utf8').catch(() => '');
  if (kept.trim() !== '') return kept.trim();
  const id = random.uuidV7();
  await makeOnce(files, { folder, name: NAME }, id);
  return id;
}
