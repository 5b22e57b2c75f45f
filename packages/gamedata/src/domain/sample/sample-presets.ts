import { SampleRandom, sampleId } from './sample-random.js';
import type { Body, World } from './sample-world.js';
import type { WordLists, Words } from './words.js';

/** Presets at scale 1; larger worlds repeat the block. */
export const PRESET_BLOCK = 64;

/** Weapon members that a preset needs. */
export interface SampleWeapon {
  readonly id: string;
  readonly name: Words;
  readonly slots: readonly { readonly name: string; readonly itemIds: readonly string[] }[];
}

export class PresetMaker {
  readonly #seed: number;
  readonly #wordLists: WordLists;
  readonly #random: SampleRandom;

  constructor({ seed, wordLists }: World) {
    this.#seed = seed;
    this.#wordLists = wordLists;
    this.#random = new SampleRandom(seed, 'item-presets');
  }

  make(index: number, weapon: SampleWeapon): Body {
    const random = this.#random;
    const isDefault = index % PRESET_BLOCK < 40;
    const slots = random.some(weapon.slots, random.between(1, weapon.slots.length));
    const mods = slots.map(({ name, itemIds }) => ({ slot: name, item: random.pick(itemIds) }));
    const style = random.pick(this.#wordLists.adjectives);
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
