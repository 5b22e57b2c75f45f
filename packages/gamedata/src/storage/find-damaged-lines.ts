import type { ObjectStore } from '@plinth/kernel';
import { GroupStore, LINES_FOLDER, ObjectDamaged } from './group-store.js';

interface CheckedObject {
  readonly sizeBytes: number;
  /** Undefined for an intact object. */
  readonly damage: string | undefined;
}

/** Compares each stored object of the game data with the checksum in its name. */
export async function findDamagedLines(objects: ObjectStore): Promise<{
  readonly fileCount: number;
  readonly totalBytes: number;
  readonly files: AsyncIterable<CheckedObject>;
}> {
  const all = await objects.list(`${LINES_FOLDER}/`);
  return {
    fileCount: all.length,
    totalBytes: all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    files: check(objects, all),
  };
}

async function* check(
  objects: ObjectStore,
  all: readonly { readonly name: string; readonly sizeBytes: number }[],
): AsyncGenerator<CheckedObject, void, undefined> {
  const groups = new GroupStore(objects);
  for (const { name, sizeBytes } of all) {
    let damage: string | undefined;
    try {
      await groups.get(name.slice(LINES_FOLDER.length + 1));
    } catch (error) {
      if (!(error instanceof ObjectDamaged)) throw error;
      damage = `game data: ${error.message}; restore a backup, or import the data again`;
    }
    yield { sizeBytes, damage };
  }
}
