import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TsdbEngine } from '@plinth/tsdb-engine/tsdb-engine.js';
import type { OpenTsdb } from '../service.js';

/** Flushes everything written before the call, and runs due merges. Throws if a flush fails. */
export async function flushEngine({ background }: Pick<TsdbEngine, 'background'>): Promise<void> {
  await background.flusher.flush('all');
  await background.compactor.compactWhenDue();
}

/** Flushes and merges. Returns the names of all data files, segments before series files. */
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
