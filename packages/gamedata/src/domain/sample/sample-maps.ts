import { RAID_LEVELS } from '../../model/schemas/stored.js';
import { SampleRandom } from './sample-random.js';
import { type Body, mapId, ofCategory, type World } from './sample-world.js';
import type { Words } from './words.js';

export function* makeMaps(world: World): Generator<Body> {
  const { seed, wordLists } = world;
  const random = new SampleRandom(seed, 'maps');
  for (const [index, { name, text, boss }] of wordLists.maps.entries()) {
    const spots = random.some(wordLists.places, 9);
    const place = (at: number): Words => spots[at] as Words; // nine spots were picked
    const chance = random.between(5, 60);
    yield {
      id: mapId(wordLists, index),
      name: name.en,
      description: text.en,
      min_level: index * 3,
      players: random.between(4, 14),
      duration: random.between(20, 50) * 60,
      durationNight: random.between(15, 40) * 60,
      raidlevel: RAID_LEVELS[index % RAID_LEVELS.length],
      image: `images/maps/${mapId(wordLists, index)}.webp`,
      spawns: [0, 1, 2].map((at) => ({
        name: place(at).en,
        description: `Arrivals near ${place(at).en}.`,
      })),
      bosses: [{ name: boss, description: `Holds ${place(3).en}.`, spawnChance: chance / 100 }],
      loot: (['highvalue', 'currency', 'ammo', 'medical', 'keys'] as const).map((type, at) => {
        const categories = {
          highvalue: 'barter',
          currency: 'currency',
          ammo: 'ammo',
          medical: 'medical',
          keys: 'key',
        };
        const found = random.some(ofCategory(world, categories[type]), 2);
        return {
          type,
          location: place(4 + (at % 3)).en,
          examples: [],
          itemIds: found.map(({ id }) => id),
        };
      }),
      extracts: [7, 8].map((at) => ({
        name: place(at).en,
        description: `A way out past ${place(at).en}.`,
        requires: at === 8 ? 'a toll of 5 scrip' : null,
      })),
      enemies: ['drifters', 'wardens', boss],
      accessItemIds:
        index % 3 === 2 ? random.some(ofCategory(world, 'key'), 1).map(({ id }) => id) : [],
      floors: index % 2 === 0 ? ['ground', 'upper'] : ['ground'],
      locales: { fr: { name: name.fr, ...(index % 2 === 0 && { description: text.fr }) } },
    };
  }
}
