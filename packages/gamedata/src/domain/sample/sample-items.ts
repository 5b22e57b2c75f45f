import { RARITIES } from '../../model/schemas/stored.js';
import { SampleRandom, sampleId } from './sample-random.js';
import type { WordLists, Words } from './words.js';

/**
 * Number of items per category in one block; the scale adds blocks. Source: gamedata, section 7.2.
 */
export const BLOCK: readonly (readonly [string, number])[] = [
  ['weapon', 40],
  ['ammo', 64],
  ['mod', 110],
  ['magazine', 24],
  ['armor', 20],
  ['helmet', 16],
  ['rig', 12],
  ['backpack', 12],
  ['medical', 24],
  ['food', 20],
  ['key', 28],
  ['container', 10],
  ['barter', 37],
  ['currency', 3],
];
export const BLOCK_SIZE = BLOCK.reduce((sum, [, count]) => sum + count, 0);

const CALIBERS: readonly (readonly [string, string])[] = [
  ['Caliber5x26Wren', '5x26 Wren'],
  ['Caliber6x34Kest', '6x34 Kest'],
  ['Caliber7x41Harrow', '7x41 Harrow'],
  ['Caliber8x21Tarn', '8x21 Tarn'],
  ['Caliber10x24Bolt', '10x24 Bolt'],
  ['Caliber11x33Slate', '11x33 Slate'],
  ['Caliber13x95Gantry', '13x95 Gantry'],
  ['Caliber18gMire', '18g Mire'],
  ['Caliber24gSilt', '24g Silt'],
  ['Caliber35x70Petard', '35x70 Petard'],
];
const SLOTS = ['muzzle', 'foregrip', 'sight', 'handguard', 'mount', 'receiver'] as const;
/** 64 rounds for ten calibers: seven for each of the first four, six for each of the others. */
const AMMO_START = 40;
const MOD_START = 104;

const PRICES: Readonly<Record<string, readonly [number, number]>> = {
  weapon: [9000, 90_000],
  ammo: [20, 900],
  mod: [800, 24_000],
  magazine: [600, 9000],
  armor: [14_000, 160_000],
  helmet: [6000, 70_000],
  rig: [3000, 40_000],
  backpack: [2500, 60_000],
  medical: [500, 18_000],
  food: [150, 3500],
  key: [4000, 220_000],
  container: [40_000, 900_000],
  barter: [300, 60_000],
  currency: [1, 150],
};
/** In grams. */
const WEIGHTS: Readonly<Record<string, readonly [number, number]>> = {
  weapon: [900, 8200],
  ammo: [4, 60],
  mod: [30, 900],
  magazine: [60, 900],
  armor: [3000, 14_000],
  helmet: [600, 3500],
  rig: [500, 3000],
  backpack: [400, 3500],
  medical: [50, 1200],
  food: [100, 1800],
  key: [10, 60],
  container: [800, 6000],
  barter: [20, 4000],
  currency: [1, 1],
};

/** Item members that other kinds need. */
export interface SampleItem {
  readonly id: string;
  readonly index: number;
  readonly category: string;
  readonly price: number;
}

const title = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Creates items one after another. An item never depends on later ones. */
export class ItemMaker {
  readonly #seed: number;
  readonly #wordLists: WordLists;
  readonly #random: SampleRandom;
  #taken = new Set<string>();

  constructor(seed: number, wordLists: WordLists) {
    this.#seed = seed;
    this.#wordLists = wordLists;
    this.#random = new SampleRandom(seed, 'items');
  }

  make(index: number): { readonly brief: SampleItem; readonly body: Record<string, unknown> } {
    const block = Math.floor(index / BLOCK_SIZE);
    if (index % BLOCK_SIZE === 0) this.#taken = new Set();
    const { category, place } = placeOf(index % BLOCK_SIZE);
    const random = this.#random;
    const id = sampleId(this.#seed, 'items', index);
    const name = this.#nameOf(category, place, block);
    const rarityRank = [0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4][random.between(0, 10)] ?? 0;
    const [lowest = 0, highest = 0] = PRICES[category] ?? [];
    const [lightest = 1, heaviest = 1] = WEIGHTS[category] ?? [];
    const price = Math.round((random.between(lowest, highest) * (4 + rarityRank * 3)) / 10) + 1;
    const maker = random.pick(this.#wordLists.makers);
    const place2 = random.pick(this.#wordLists.places);
    const material = random.pick(this.#wordLists.materials);
    const text = random.pick(this.#wordLists.itemTexts);
    const fill = (language: 'en' | 'fr'): string =>
      text[language]
        .replace('{place}', place2[language])
        .replace('{maker}', maker)
        .replace('{material}', material[language]);
    const properties = this.#propertiesOf(category, place);
    const body = {
      id,
      name: name.en,
      shortName: shortNameOf(name.en),
      description: fill('en'),
      rarity: RARITIES[rarityRank],
      handbook: { parent: category, price },
      category,
      tags: [slugWord(maker), slugWord(material.en)],
      weight: random.between(lightest, heaviest) / 1000,
      width: random.between(1, category === 'weapon' ? 5 : 3),
      height: random.between(1, 3),
      stackSize: category === 'ammo' ? 60 : category === 'currency' ? 500_000 : 1,
      image: `images/items/${id}.webp`,
      properties: properties === undefined ? {} : properties,
      locales: {
        fr: {
          name: name.fr,
          // Only half of the descriptions are translated, to show the fallback.
          ...(index % 2 === 0 && { description: fill('fr') }),
        },
      },
    };
    return { brief: { id, index, category, price }, body };
  }

  #nameOf(category: string, place: number, block: number): Words {
    const mark = block === 0 ? '' : ` Mk ${block + 1}`;
    const random = this.#random;
    const nouns = this.#wordLists.nouns[category] ?? [];
    for (let attempt = 0; ; attempt++) {
      const maker = random.pick(this.#wordLists.makers);
      const adjective = random.pick(this.#wordLists.adjectives);
      const model = `${random.pick([...'ABDEKLMRSTV'])}-${random.between(2, 99)}`;
      const drawn = random.pick(nouns);
      const noun = category === 'mod' ? (nouns[modNoun(place)] ?? drawn) : drawn;
      let name: Words;
      if (category === 'currency' && block === 0) {
        const own = nouns[place] ?? drawn;
        name = { en: title(own.en), fr: title(own.fr) };
      } else if (category === 'ammo') {
        const [, label] = caliberOf(place);
        const round = nouns[(Math.floor(place / 10) + (place % 10)) % nouns.length] ?? drawn;
        name = { en: `${label} ${round.en}`, fr: `${label} ${round.fr}` };
      } else if (category === 'weapon') {
        name = {
          en: `${maker} ${model} ${drawn.en}`,
          fr: `${title(drawn.fr)} ${maker} ${model}`,
        };
      } else {
        const tail = attempt > 4 ? ` No. ${place + 1}` : '';
        name = {
          en: `${title(adjective.en)} ${noun.en}${tail}`,
          fr: `${title(noun.fr)} ${adjective.fr}${tail}`,
        };
      }
      if (this.#taken.has(name.en)) continue;
      this.#taken.add(name.en);
      return { en: name.en + mark, fr: name.fr + mark };
    }
  }

  #propertiesOf(category: string, place: number): object | undefined {
    const random = this.#random;
    const item = (index: number): string => sampleId(this.#seed, 'items', index);
    switch (category) {
      case 'weapon':
        return {
          weapon: {
            caliber: caliberOf(place)[0],
            fireRate: random.between(3, 90) * 10,
            ergonomics: random.between(25, 70),
            recoil: random.between(60, 420),
            accuracy: random.between(30, 80),
            fireModes: place % 3 === 0 ? ['single', 'full'] : ['single'],
            defaultAmmoId: item(AMMO_START + (place % 10)),
            slots: SLOTS.slice(0, 3 + (place % 4)).map((name, slot) => ({
              name,
              required: slot === 0 && place % 2 === 0,
              // Mods of one slot are six positions apart.
              itemIds: [0, 1, 2, 3].map((step) =>
                item(MOD_START + slot + 6 * ((place + step * 3) % 18)),
              ),
            })),
          },
        };
      case 'ammo':
        return { ammo: { caliber: caliberOf(place)[0], type: ammoTypeOf(place) } };
      case 'mod':
        return {
          mod: {
            slot: SLOTS[place % 6],
            ergonomics: random.between(-6, 14),
            recoilPercent: -random.between(0, 12),
            accuracyPercent: random.between(-2, 6),
          },
        };
      case 'magazine':
        return { magazine: { caliber: caliberOf(place)[0], capacity: random.between(1, 12) * 5 } };
      case 'armor':
      case 'helmet':
        return {
          armor: {
            class: 1 + (place % 6),
            durability: random.between(20, 90),
            zones:
              category === 'helmet' ? ['head'] : ['chest', ...(place % 2 === 0 ? ['back'] : [])],
            material: slugWord(random.pick(this.#wordLists.materials).en),
          },
        };
      case 'rig':
      case 'backpack':
      case 'container':
        return {
          container: { width: random.between(2, 6), height: random.between(2, 7), accepts: [] },
        };
      case 'medical':
        return { medical: { uses: random.between(1, 8), effects: [random.pick(EFFECTS)] } };
      case 'food':
        return { food: { energy: random.between(0, 60), hydration: random.between(-10, 70) } };
      case 'key':
        return {
          key: {
            mapId: slugWord(this.#wordLists.maps[place % 8]?.name.en ?? ''),
            uses: random.between(1, 40),
          },
        };
      default:
        return undefined;
    }
  }

  ammunition(item: SampleItem, body: Record<string, unknown>): Record<string, unknown> {
    const random = this.#ammoRandom;
    const place = (item.index % BLOCK_SIZE) - AMMO_START;
    const [caliber] = caliberOf(place);
    const ammoType = ammoTypeOf(place);
    const damage = random.between(28, 160);
    const isTracer = Math.floor(place / 10) === 3;
    const { name, shortName, weight, locales } = body;
    return {
      id: item.id,
      itemId: item.id,
      name,
      shortName,
      caliber,
      weight,
      stackMaxSize: 60,
      tracer: isTracer,
      tracerColor: isTracer ? random.pick(['red', 'green', 'amber']) : null,
      ammoType,
      projectileCount: ammoType === 'buckshot' ? random.between(6, 9) : 1,
      ballistics: {
        damage,
        penetration: Math.max(
          1,
          Math.min(90, 100 - Math.round(damage / 2) + random.between(-15, 15)),
        ),
        armorDamage: random.between(10, 80),
        fragmentation: random.between(0, 60) / 100,
        ricochetChance: random.between(0, 50) / 100,
        penetrationChance: random.between(1, 95) / 100,
        accuracy: random.between(-10, 15),
        recoil: random.between(-8, 12),
        initialSpeed: random.between(180, 960),
      },
      locales: { fr: { name: (locales as { fr: { name: string } }).fr.name } },
    };
  }

  get #ammoRandom(): SampleRandom {
    this.#ammunition ??= new SampleRandom(this.#seed, 'ammunition');
    return this.#ammunition;
  }
  #ammunition: SampleRandom | undefined;
}

const EFFECTS = ['stops bleeding', 'sets bones', 'lowers fever', 'clears lungs', 'dulls pain'];

/** Returns the position of a block's item within its category. */
export function placeOf(position: number): { readonly category: string; readonly place: number } {
  let start = 0;
  for (const [category, count] of BLOCK) {
    if (position < start + count) return { category, place: position - start };
    start += count;
  }
  throw new RangeError(`no block contains item ${position}`);
}

function caliberOf(place: number): readonly [string, string] {
  return CALIBERS[place % CALIBERS.length] as readonly [string, string]; // within the list
}

const ammoTypeOf = (place: number): string =>
  place % 10 === 9 ? 'grenade' : place % 10 === 7 || place % 10 === 8 ? 'buckshot' : 'bullet';

/** Mod nouns come in pairs, one pair per slot. */
const modNoun = (place: number): number => (place % 6) * 2 + (Math.floor(place / 6) % 2);

export function slugWord(text: string): string {
  return text
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

function shortNameOf(name: string): string {
  const wordLists = name.split(' ');
  return wordLists.length > 2
    ? wordLists.slice(1, 3).join(' ').slice(0, 24)
    : (wordLists[0] ?? name).slice(0, 24);
}
