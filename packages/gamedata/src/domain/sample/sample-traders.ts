import { slugWord } from './sample-items.js';
import { SampleRandom } from './sample-random.js';
import { type Body, mapId, questId, TRADER_COUNT, traderId, type World } from './sample-world.js';

export function* makeTraders(world: World): Generator<Body> {
  const { seed, wordLists } = world;
  const random = new SampleRandom(seed, 'traders');
  for (const [index, trader] of wordLists.traders.entries()) {
    const stock = random.some(world.items, random.between(40, 70));
    yield {
      id: traderId(seed, index),
      name: trader.name,
      fullName: trader.fullName,
      description: trader.text.en,
      location: trader.location.en,
      currency: trader.currency,
      currencies: [trader.currency, ...(trader.currency === 'MRK' ? [] : ['MRK'])],
      image: `images/traders/${slugWord(trader.name)}.webp`,
      loyalty: [1, 2, 3, 4].map((level) => ({
        level,
        requiredLevel: level === 1 ? 0 : level * 8 - 2,
        requiredReputation: (level - 1) / 5,
        requiredSales: (level - 1) * 400_000,
      })),
      inventory: stock.map(({ id, price }, at) => {
        // Every third entry is available from the start.
        const level = at % 3 === 0 ? 1 : 1 + random.between(0, 3);
        const isLocked = level > 1 && at % 11 === 5;
        return {
          id,
          price: Math.max(1, Math.round((price * random.between(90, 130)) / 100)),
          currency: trader.currency,
          level,
          questId: isLocked ? questId(seed, index + TRADER_COUNT * random.between(0, 15)) : null,
          stock: random.between(1, 40) * 5,
        };
      }),
      mapIds: [mapId(wordLists, index), mapId(wordLists, index + 3)],
      locales: {
        fr: {
          name: trader.name,
          location: trader.location.fr,
          ...(index % 2 === 0 && { description: trader.text.fr }),
        },
      },
    };
  }
}
