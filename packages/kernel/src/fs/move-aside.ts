import type { FileSystem } from './file-system.js';

export const asideName = (path: string): string => `${path}.damaged`;

/** Returns the path at which a repair writes the replacement of the damaged file. */
export const repairedName = (path: string): string => `${path}.repaired`;

/** Keeps the damaged file under another name and replaces it with its intact beginning. */
export async function moveAside(
  fileSystem: FileSystem,
  directory: string,
  path: string,
  goodBytes: number,
): Promise<void> {
  if (goodBytes > 0)
    await copyRange(fileSystem, path, repairedName(path), { start: 0, end: goodBytes });
  await keepAside(fileSystem, directory, path);
  if (goodBytes > 0) await fileSystem.rename(repairedName(path), path);
  else await fileSystem.remove(path);
  await fileSystem.syncDirectory(directory);
}

/** Keeps the damaged file under another name. The file at `repairedName`, complete and synced, replaces it. */
export async function replaceDamaged(
  fileSystem: FileSystem,
  directory: string,
  path: string,
): Promise<void> {
  await keepAside(fileSystem, directory, path);
  await fileSystem.rename(repairedName(path), path);
  await fileSystem.syncDirectory(directory);
}

/** Links the damaged file to its second name first, so that its original name always refers to one of the two files. */
async function keepAside(fileSystem: FileSystem, directory: string, path: string): Promise<void> {
  await fileSystem.remove(asideName(path));
  await fileSystem.link(path, asideName(path));
  await fileSystem.syncDirectory(directory);
}

/** Copies the bytes of `from` in the given range to a new file, which is synced. */
export async function copyRange(
  fileSystem: FileSystem,
  from: string,
  to: string,
  range: { readonly start: number; readonly end: number },
): Promise<void> {
  const source = await fileSystem.open(from, 'r');
  const target = await fileSystem.open(to, 'w', 'buffered', 'private');
  try {
    const window = new Uint8Array(1024 * 1024);
    for (let at = range.start; at < range.end; ) {
      const chunk = window.subarray(0, Math.min(window.length, range.end - at));
      const count = await source.read(chunk, at);
      if (count === 0) break;
      await target.write([window.subarray(0, count)], at - range.start);
      at += count;
    }
    await target.sync();
  } finally {
    await source.close();
    await target.close();
  }
}
