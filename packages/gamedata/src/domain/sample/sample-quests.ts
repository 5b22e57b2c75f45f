import { OBJECTIVE_TYPES } from '../../model/schemas/base.js';
import type { SampleItem } from './sample-items.js';
import { SampleRandom } from './sample-random.js';
import {
  type Body,
  chapterId,
  levelsOfModule,
  MODULE_COUNT,
  mapId,
  moduleId,
  ofCategory,
  QUEST_BLOCK,
  questId,
  SKILLS,
  TRADER_COUNT,
  traderId,
  type World,
} from './sample-world.js';
import type { Words } from './words.js';

export class QuestMaker {
  readonly #world: World;
  readonly #random: SampleRandom;
  readonly #barter: readonly SampleItem[];
  readonly #keys: readonly SampleItem[];

  constructor(world: World) {
    this.#world = world;
    this.#random = new SampleRandom(world.seed, 'quests');
    this.#barter = ofCategory(world, 'barter', 'medical', 'food');
    this.#keys = ofCategory(world, 'key');
  }

  make(index: number): Body {
    const { seed, wordLists } = this.#world;
    const random = this.#random;
    const block = Math.floor(index / QUEST_BLOCK);
    const place = index % QUEST_BLOCK;
    const giver = place % TRADER_COUNT;
    const map = Math.floor(place / TRADER_COUNT) % wordLists.maps.length;
    const spot = random.pick(wordLists.places);
    const template = wordLists.questTitles[place % wordLists.questTitles.length] as Words;
    const turn = Math.floor(place / wordLists.questTitles.length);
    const mark = [turn === 0 ? '' : `, part ${turn + 1}`, turn === 0 ? '' : `, partie ${turn + 1}`];
    const series = block === 0 ? '' : ` (${block + 1})`;
    const fill = (language: 'en' | 'fr'): string =>
      template[language]
        .replace('{place}', spot[language])
        .replace('{giver}', wordLists.traders[giver]?.name ?? '') +
      mark[language === 'en' ? 0 : 1] +
      series;
    const verb = random.pick(wordLists.verbs);
    const objectives = Array.from({ length: random.between(1, 4) }, (_entry, at) =>
      this.#objective({ index, at, map, type: OBJECTIVE_TYPES[(place + at * 5) % 15] ?? 'find' }),
    );
    const before = (step: number): string => questId(seed, index - step);
    const groups: string[][] = [];
    if (place >= TRADER_COUNT) groups.push([before(TRADER_COUNT)]);
    if (place >= 20 && place % 16 === 4) groups.push([before(3), before(5)]);
    const reputation = random.between(1, 12) / 100;
    return {
      id: questId(seed, index),
      gameId: `sample-${index}`,
      title: fill('en'),
      giverId: traderId(seed, giver),
      turnInId: traderId(seed, giver),
      description: `${title(verb.en)} what is left at ${spot.en}, and do not be seen.`,
      storylineId: chapterId(seed, Math.min(11, Math.floor(place / 11))),
      conditions: {
        location: mapId(wordLists, map),
        level: 1 + Math.floor((place * 45) / QUEST_BLOCK),
        quests: groups,
        loyalty: place % 9 === 8 ? [{ traderId: traderId(seed, giver), level: 2 }] : [],
        objectives,
      },
      reward: {
        experience: 500 + place * random.between(20, 120),
        items: random.some(this.#barter, random.between(1, 3)).map(({ id }) => ({
          id,
          count: random.between(1, 5),
        })),
        reputations: [{ traderId: traderId(seed, giver), value: reputation }],
        unlocks:
          place % 6 === 5
            ? [
                {
                  itemId: random.pick(this.#world.items).id,
                  traderId: traderId(seed, giver),
                  level: 2,
                },
              ]
            : [],
      },
      failure: {
        reputations:
          place % 10 === 9 ? [{ traderId: traderId(seed, giver), value: -reputation }] : [],
      },
      alternatives: place % 32 === 31 ? [before(1)] : [],
      flags: { deprecated: false, optional: place % 13 === 12 },
      locales: {
        fr: {
          title: fill('fr'),
          ...(place % 2 === 0 && {
            description: `${title(verb.fr)} ce qui reste à ${spot.fr}, sans être vu.`,
          }),
        },
      },
    };
  }

  #objective(options: {
    readonly index: number;
    readonly at: number;
    readonly map: number;
    readonly type: string;
  }): Body {
    const { seed, wordLists } = this.#world;
    const random = this.#random;
    const spot = random.pick(wordLists.places);
    const base = {
      id: `q${options.index}-${options.at + 1}`,
      type: options.type,
      mapIds: [mapId(wordLists, options.map)],
    };
    const items = (list: readonly SampleItem[], count: number): string[] =>
      random.some(list, count).map(({ id }) => id);
    switch (options.type) {
      case 'find':
      case 'collect':
      case 'build':
      case 'place':
        return {
          ...base,
          itemIds: items(this.#barter, options.type === 'collect' ? 2 : 1),
          target: spot.en,
          count: random.between(1, 6),
          foundInRaid: options.type === 'find',
        };
      case 'key':
        return { ...base, itemIds: items(this.#keys, 1), target: spot.en };
      case 'kill':
        return {
          ...base,
          target: random.pick(['drifters', 'wardens']),
          count: random.between(3, 20),
        };
      case 'reputation':
        return {
          ...base,
          traderId: traderId(seed, options.index % TRADER_COUNT),
          level: random.between(2, 4),
        };
      case 'skill':
        return { ...base, skill: random.pick(SKILLS), level: random.between(1, 10) };
      case 'hideout': {
        const module = random.between(0, MODULE_COUNT - 1);
        return {
          ...base,
          mapIds: [],
          moduleId: moduleId(seed, module),
          level: random.between(1, levelsOfModule(module)),
        };
      }
      case 'level':
        return { ...base, mapIds: [], level: random.between(2, 40) };
      default:
        return {
          ...base,
          target: spot.en,
          position: {
            x: random.between(0, 1000) / 10,
            y: random.between(0, 1000) / 10,
            floor: null,
          },
        };
    }
  }
}

const title = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
