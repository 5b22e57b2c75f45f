import { OBJECTIVE_TYPES } from '../../model/schemas/base.js';
import { type SampleItem, slugWord } from './sample-items.js';
import { SampleRandom, sampleId } from './sample-random.js';
import type { WordLists, Words } from './words.js';

type Body = Record<string, unknown>;

/** What is named by the kinds that come later. */
export interface World {
  readonly seed: number;
  readonly words: WordLists;
  /** Items of the first block: everything else refers only to these. */
  readonly items: readonly SampleItem[];
}

const traderId = (seed: number, index: number): string => sampleId(seed, 'traders', index);
const questId = (seed: number, index: number): string => sampleId(seed, 'quests', index);
const moduleId = (seed: number, index: number): string => sampleId(seed, 'hideout', index);
const mapId = (words: WordLists, index: number): string =>
  slugWord(words.maps[index % words.maps.length]?.name.en ?? '');
const chapterId = (seed: number, index: number): string => sampleId(seed, 'storyline', index);

const TRADER_COUNT = 8;
const MODULE_COUNT = 20;
const LEVEL_COUNT = 60;
export const QUEST_BLOCK = 128;
export const PRESET_BLOCK = 64;
const RAID_LEVELS = [
  'Very Easy',
  'Easy',
  'Easy-Medium',
  'Medium',
  'Medium-Hard',
  'Hard',
  'Very Hard',
];

const ofCategory = (world: World, ...categories: string[]): readonly SampleItem[] =>
  world.items.filter(({ category }) => categories.includes(category));

export function* makeMaps(world: World): Generator<Body> {
  const { seed, words } = world;
  const random = new SampleRandom(seed, 'maps');
  for (const [index, { name, text, boss }] of words.maps.entries()) {
    const spots = random.some(words.places, 9);
    const place = (at: number): Words => spots[at] as Words; // nine were taken
    const chance = random.between(5, 60);
    yield {
      id: mapId(words, index),
      name: name.en,
      description: text.en,
      min_level: index * 3,
      players: random.between(4, 14),
      duration: random.between(20, 50) * 60,
      durationNight: random.between(15, 40) * 60,
      raidlevel: RAID_LEVELS[index % RAID_LEVELS.length],
      image: `images/maps/${mapId(words, index)}.webp`,
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

export function* makeTraders(world: World): Generator<Body> {
  const { seed, words } = world;
  const random = new SampleRandom(seed, 'traders');
  for (const [index, trader] of words.traders.entries()) {
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
        // Every third entry is there from the beginning.
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
      mapIds: [mapId(words, index), mapId(words, index + 3)],
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

export function* makeLevels({ seed, words }: World): Generator<Body> {
  const random = new SampleRandom(seed, 'levels');
  let exp = 0;
  for (let level = 1; level <= LEVEL_COUNT; level++) {
    const isLast = level === LEVEL_COUNT;
    const expToNextLevel = isLast
      ? 0
      : 900 + level * level * 40 + level * 310 + random.between(0, 200);
    const rank = words.titles[Math.floor((level - 1) / 4)] ?? (words.titles.at(-1) as Words);
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

const levelsOfModule = (index: number): number => (index % 2 === 0 ? 3 : 2);

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
const SKILLS = ['Dredging', 'Field Surgery', 'Marksmanship', 'Haggling', 'Navigation', 'Endurance'];

export function* makeModules(world: World): Generator<Body> {
  const { seed, words } = world;
  const random = new SampleRandom(seed, 'hideout');
  const materials = ofCategory(world, 'barter', 'currency', 'food');
  for (let index = 0; index < MODULE_COUNT; index++) {
    const name = words.modules[index] as Words; // twenty names
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

/** What a preset needs of its weapon. */
export interface SampleWeapon {
  readonly id: string;
  readonly name: Words;
  readonly slots: readonly { readonly name: string; readonly itemIds: readonly string[] }[];
}

export class PresetMaker {
  readonly #seed: number;
  readonly #words: WordLists;
  readonly #random: SampleRandom;

  constructor({ seed, words }: World) {
    this.#seed = seed;
    this.#words = words;
    this.#random = new SampleRandom(seed, 'item-presets');
  }

  make(index: number, weapon: SampleWeapon): Body {
    const random = this.#random;
    const isDefault = index % PRESET_BLOCK < 40;
    const slots = random.some(weapon.slots, random.between(1, weapon.slots.length));
    const mods = slots.map(({ name, itemIds }) => ({ slot: name, item: random.pick(itemIds) }));
    const style = random.pick(this.#words.adjectives);
    const append = isDefault ? { en: 'Standard', fr: 'Standard' } : { en: style.en, fr: style.fr };
    return {
      id: sampleId(this.#seed, 'item-presets', index),
      name: `${weapon.name.en} ${append.en}`,
      appendName: append.en,
      default: isDefault,
      baseId: weapon.id,
      description: isDefault ? `As it left the workshop.` : `Put together on the Shelf.`,
      mods,
      parts: [weapon.id, ...mods.map(({ item }) => item)].map((id) => ({ id, quantity: 1 })),
      locales: { fr: { name: `${weapon.name.fr} ${append.fr}`, appendName: append.fr } },
    };
  }
}

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
    const { seed, words } = this.#world;
    const random = this.#random;
    const block = Math.floor(index / QUEST_BLOCK);
    const place = index % QUEST_BLOCK;
    const giver = place % TRADER_COUNT;
    const map = Math.floor(place / TRADER_COUNT) % words.maps.length;
    const spot = random.pick(words.places);
    const template = words.questTitles[place % words.questTitles.length] as Words;
    const turn = Math.floor(place / words.questTitles.length);
    const mark = [turn === 0 ? '' : `, part ${turn + 1}`, turn === 0 ? '' : `, partie ${turn + 1}`];
    const series = block === 0 ? '' : ` (${block + 1})`;
    const fill = (language: 'en' | 'fr'): string =>
      template[language]
        .replace('{place}', spot[language])
        .replace('{giver}', words.traders[giver]?.name ?? '') +
      mark[language === 'en' ? 0 : 1] +
      series;
    const verb = random.pick(words.verbs);
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
        location: mapId(words, map),
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

  #objective(at: {
    readonly index: number;
    readonly at: number;
    readonly map: number;
    readonly type: string;
  }): Body {
    const { seed, words } = this.#world;
    const random = this.#random;
    const spot = random.pick(words.places);
    const base = { id: `q${at.index}-${at.at + 1}`, type: at.type, mapIds: [mapId(words, at.map)] };
    const items = (list: readonly SampleItem[], count: number): string[] =>
      random.some(list, count).map(({ id }) => id);
    switch (at.type) {
      case 'find':
      case 'collect':
      case 'build':
      case 'place':
        return {
          ...base,
          itemIds: items(this.#barter, at.type === 'collect' ? 2 : 1),
          target: spot.en,
          count: random.between(1, 6),
          foundInRaid: at.type === 'find',
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
          traderId: traderId(seed, at.index % TRADER_COUNT),
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

export function* makeChapters({ seed, words }: World): Generator<Body> {
  const random = new SampleRandom(seed, 'storyline');
  for (const [index, chapter] of words.chapters.entries()) {
    const trader = index % TRADER_COUNT;
    const { name, description, fullText } = chapter;
    const firstQuest = Math.min(index * 10, QUEST_BLOCK - 12);
    yield {
      id: chapterId(seed, index),
      order: index + 1,
      name: name.en,
      description: description.en,
      details: fullText.en.split('. ', 2).join('. '),
      fullText: fullText.en,
      character: words.traders[trader]?.name,
      timeline: `year ${40 + index} after the Outage`,
      importance: index % 4 === 0 ? 'critical' : index % 2 === 0 ? 'major' : 'minor',
      relatedQuests: random
        .some(
          Array.from({ length: 11 }, (_entry, at) => firstQuest + at),
          3 + (index % 3),
        )
        .map((quest) => ({ id: questId(seed, quest) })),
      relatedCharacters: [{ id: traderId(seed, trader), name: null, role: 'witness' }],
      events: [0, 1].map((at) => ({
        date: `day ${random.between(1, 360)}`,
        title: `${name.en}: ${at === 0 ? 'the first sign' : 'the reckoning'}`,
        description: `Told at ${random.pick(words.places).en}.`,
      })),
      requires: index === 0 ? [] : [chapterId(seed, index - 1)],
      mapIds: [mapId(words, index)],
      objectives: [
        {
          id: `s${index}-1`,
          type: 'locate',
          description: `Reach ${random.pick(words.places).en}.`,
          optional: false,
        },
        {
          id: `s${index}-2`,
          type: 'other',
          description: `Decide what ${words.traders[trader]?.name} may know.`,
          optional: true,
        },
      ],
      rewards: [{ type: 'experience', value: (index + 1) * 1500 }],
      branches:
        index % 6 === 5 ? { tell: { leadsTo: 'trust' }, withhold: { leadsTo: 'doubt' } } : {},
      locales: {
        fr: { name: name.fr, ...(index % 2 === 0 && { description: description.fr }) },
      },
    };
  }
}
