import assert from 'node:assert/strict';
import { it } from 'node:test';
import { objectStoreConformance } from '../testing/object-store-conformance.js';
import { SeededRandom } from '../testing/seeded-random.js';
import { SimFileSystem } from '../testing/sim-file-system.js';
import { LocalObjectStore } from './local-object-store.js';

const openOn = async (fileSystem: SimFileSystem) =>
  await LocalObjectStore.open({ fileSystem, root: '/data/objects', random: new SeededRandom(1) });

objectStoreConformance(
  'LocalObjectStore',
  async () => await openOn(new SimFileSystem(new SeededRandom(1))),
);

it('keeps every acknowledged object after a crash, and no partial one', async () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = new SeededRandom(seed);
    const fileSystem = new SimFileSystem(random);
    const store = await openOn(fileSystem);
    const done = new Set<string>();
    const content = Buffer.alloc(2000, seed);
    for (let index = 0; index < 5; index += 1) {
      const name = `table/${index}.parquet`;
      store.put(name, [content]).then(
        () => done.add(name),
        () => {},
      );
      const turnCount = Math.floor(random.float() * 3);
      for (let turn = 0; turn < turnCount; turn += 1) await new Promise((r) => setImmediate(r));
    }
    const acknowledged = new Set(done);
    fileSystem.crash();
    const after = await openOn(fileSystem);
    const names = (await after.list('')).map((object) => object.name);
    for (const name of acknowledged) assert.ok(names.includes(name), `seed ${seed}: ${name} lost`);
    for (const name of names) assert.deepEqual(Buffer.from(await after.get(name)), content);
  }
});
