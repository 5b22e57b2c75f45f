import { fileSystemConformance } from '../testing/file-system-conformance.js';
import { SeededRandom } from '../testing/seeded-random.js';
import { SimFileSystem } from '../testing/sim-file-system.js';
import { temporaryFolder } from '../testing/temporary-folder.js';
import { NodeFileSystem } from './node-file-system.js';

fileSystemConformance('NodeFileSystem', async () => ({
  fileSystem: new NodeFileSystem(),
  directory: await temporaryFolder(),
}));

fileSystemConformance('SimFileSystem', async () => {
  const fileSystem = new SimFileSystem(new SeededRandom(1));
  await fileSystem.makeDirectory('/data');
  return { fileSystem, directory: '/data' };
});
