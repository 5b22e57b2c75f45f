import { statfs } from 'node:fs/promises';

/** Returns the number of free bytes for this process on the disk of `folder`. */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
