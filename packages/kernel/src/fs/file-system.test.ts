import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileSystemConformance } from '../testing/file-system-conformance.js';
import { SeededRandom } from '../testing/seeded-random.js';
import { SimFileSystem } from '../testing/sim-file-system.js';
import { NodeFileSystem } from './node-file-system.js';

const made: string[] = [];
after(async () => {
  for (const directory of made) await rm(directory, { recursive: true });
});

fileSystemConformance('NodeFileSystem', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plinth-fs-'));
  made.push(directory);
  return { fileSystem: new NodeFileSystem(), directory };
});

fileSystemConformance('SimFileSystem', async () => {
  const fileSystem = new SimFileSystem(new SeededRandom(1));
  await fileSystem.makeDirectory('/data');
  return { fileSystem, directory: '/data' };
});
