import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenTsdb } from '../service.js';

/** Flushes and merges; the names of all files that hold the data then, segments before series files. */
export async function flushNode({ engine }: Pick<OpenTsdb, 'engine'>): Promise<readonly string[]> {
  await engine.flush();
  const folder = await mkdtemp(join(tmpdir(), 'plinth-flushed-'));
  try {
    const { objects, release } = await engine.freeze({ copyStore: async () => {}, folder });
    release();
    return objects.map(({ objectName }) => objectName);
  } finally {
    await rm(folder, { recursive: true });
  }
}
