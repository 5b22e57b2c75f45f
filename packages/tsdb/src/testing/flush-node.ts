import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TsdbEngine } from '../domain/engine/tsdb-engine.js';
import type { OpenTsdb } from '../service.js';

/** Moves what was written before the call into segments, and merges what is due. Throws when a flush fails. */
export async function flushEngine({ background }: Pick<TsdbEngine, 'background'>): Promise<void> {
  await background.flusher.flush('all');
  await background.compactor.compactWhenDue();
}

/** Flushes and merges; the names of all files that hold the data then, segments before series files. */
export async function flushNode({ engine }: Pick<OpenTsdb, 'engine'>): Promise<readonly string[]> {
  await flushEngine(engine);
  const folder = await mkdtemp(join(tmpdir(), 'plinth-flushed-'));
  try {
    const { objects, release } = await engine.freeze({ copyStore: async () => {}, folder });
    release();
    return objects.map(({ objectName }) => objectName);
  } finally {
    await rm(folder, { recursive: true });
  }
}
