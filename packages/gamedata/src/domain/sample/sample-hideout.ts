import { slugWord } from './sample-items.js';
import { SampleRandom } from './sample-random.js';
import {
  type Body,
  levelsOfModule,
  MODULE_COUNT,
  moduleId,
  ofCategory,
  SKILLS,
  TRADER_COUNT,
  traderId,
  type World,
} from './sample-world.js';
import type { Words } from './words.js';

export function* makeModules(world: World): Generator<Body> {
  const { seed, wordLists } = world;
  const random = new SampleRandom(seed, 'hideout');
  const materials = ofCategory(world, 'barter', 'currency', 'food');
  for (let index = 0; index < MODULE_COUNT; index++) {
    const name = wordLists.modules[index] as Words; // twenty names
    const levels = Array.from({ length: levelsOfModule(index) }, (_entry, at) => {
      const level = at + 1;
      const other = index === 0 ? undefined : random.between(0, index - 1);
      return {
        level,
        description: `${name.en}, stage ${level}.`,
        constructionTime: level * random.between(1, 24) * 1800,
        items: random.some(materials, random.between(2, 6)).map(({ id }) => ({
          id,
          count: random.between(1, 12),
          foundInRaid: random.between(0, 3) === 0,
        })),
        modules:
          other === undefined || level === 1
            ? []
            : [{ id: moduleId(seed, other), level: Math.min(level - 1, levelsOfModule(other)) }],
        traders:
          level === 3
            ? [{ id: traderId(seed, index % TRADER_COUNT), level: random.between(2, 4) }]
            : [],
        skills: level === 2 && index % 4 === 1 ? [{ name: random.pick(SKILLS), level: 3 }] : [],
        bonuses: [{ type: BONUSES[(index + at) % BONUSES.length], value: level * 5 }],
      };
    });
    yield {
      id: moduleId(seed, index),
      name: name.en,
      description: `The ${name.en.toLowerCase()} of the hideout.`,
      disabled: false,
      image: `images/hideout/${slugWord(name.en)}.webp`,
      requirements: { electricity: index % 5 },
      levels,
      locales: { fr: { name: name.fr } },
    };
  }
}

const BONUSES = [
  'currencyProduction',
  'crafting',
  'healthRegeneration',
  'energyRegeneration',
  'staminaRegeneration',
  'skillProgression',
  'experience',
  'repairPrice',
];
