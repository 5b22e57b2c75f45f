import { SampleRandom } from './sample-random.js';
import type { Body, World } from './sample-world.js';
import type { Words } from './words.js';

const LEVEL_COUNT = 60;

export function* makeLevels({ seed, wordLists }: World): Generator<Body> {
  const random = new SampleRandom(seed, 'levels');
  let exp = 0;
  for (let level = 1; level <= LEVEL_COUNT; level++) {
    const isLast = level === LEVEL_COUNT;
    const expToNextLevel = isLast
      ? 0
      : 900 + level * level * 40 + level * 310 + random.between(0, 200);
    const rank =
      wordLists.titles[Math.floor((level - 1) / 4)] ?? (wordLists.titles.at(-1) as Words);
    const name = level % 4 === 1 ? rank.en : null;
    yield {
      id: String(level),
      slug: String(level),
      level,
      exp,
      expToNextLevel,
      title: name,
      description: name === null ? null : `Known on the Shelf as ${rank.en}.`,
      group: Math.floor((level - 1) / 5) + 1,
      bonuses: {
        carry_weight: Math.floor(level / 10),
        health: Math.floor(level / 15) * 5,
        stash_size: Math.floor(level / 20) * 10,
        radiation_resist: Math.floor(level / 30),
      },
      locales: { fr: name === null ? {} : { title: rank.fr } },
    };
    exp += expToNextLevel;
  }
}
