import type { Kind } from '../../model/kinds.js';
import { freeSlug } from '../../model/normal-text.js';
import { type Prepared, prepareRecord, type StoredRecord } from '../data/record-rows.js';
import { makeModules } from './sample-hideout.js';
import { BLOCK_SIZE, ItemMaker, type SampleItem } from './sample-items.js';
import { makeLevels } from './sample-levels.js';
import { makeMaps } from './sample-maps.js';
import { PRESET_BLOCK, PresetMaker, type SampleWeapon } from './sample-presets.js';
import { QuestMaker } from './sample-quests.js';
import { makeChapters } from './sample-storyline.js';
import { makeTraders } from './sample-traders.js';
import { QUEST_BLOCK, type World } from './sample-world.js';
import type { WordLists } from './words.js';

export const SAMPLE_LANGUAGES = ['en', 'fr'] as const;

/** Timestamps of records start here and are one minute apart. */
const START_MS = Date.UTC(2026, 0, 1);

export interface SampleOptions {
  readonly seed: number;
  /** Multiplier for items, ammunition, quests and presets. */
  readonly scale: number;
  readonly wordLists: WordLists;
}

/**
 * Yields the records of the Sundered Shelf kind by kind, in order. There is one world per seed,
 * identical on every machine and Node version. Source: gamedata, section 7.
 */
export function* generateSample({
  seed,
  scale,
  wordLists,
}: SampleOptions): Generator<{ readonly kind: Kind; readonly record: StoredRecord }> {
  const finish = new Finisher();
  const items: SampleItem[] = [];
  const weapons: SampleWeapon[] = [];
  const ammunition: [SampleItem, Record<string, unknown>][] = [];
  const maker = new ItemMaker(seed, wordLists);
  for (let index = 0; index < BLOCK_SIZE * scale; index++) {
    const { brief, body } = maker.make(index);
    if (index < BLOCK_SIZE) items.push(brief);
    if (brief.category === 'ammo') ammunition.push([brief, body]);
    if (brief.category === 'weapon') weapons.push(weaponOf(body));
    yield finish.record('items', index, body);
  }
  for (const [index, [item, body]] of ammunition.entries()) {
    yield finish.record('ammunition', index, maker.ammunition(item, body));
  }
  const world: World = { seed, wordLists, items };
  yield* finish.all('maps', makeMaps(world));
  yield* finish.all('traders', makeTraders(world));
  yield* finish.all('levels', makeLevels(world));
  yield* finish.all('hideout', makeModules(world));
  const presets = new PresetMaker(world);
  for (let index = 0; index < PRESET_BLOCK * scale; index++) {
    const block = Math.floor(index / PRESET_BLOCK);
    const weapon = weapons[block * 40 + ((index % PRESET_BLOCK) % 40)];
    if (weapon !== undefined)
      yield finish.record('item-presets', index, presets.make(index, weapon));
  }
  const quests = new QuestMaker(world);
  for (let index = 0; index < QUEST_BLOCK * scale; index++) {
    yield finish.record('quests', index, quests.make(index));
  }
  yield* finish.all('storyline', makeChapters(world));
}

function weaponOf(body: Record<string, unknown>): SampleWeapon {
  const { id, name, properties, locales } = body as {
    id: string;
    name: string;
    properties: { weapon: { slots: SampleWeapon['slots'] } };
    locales: { fr: { name: string } };
  };
  return { id, name: { en: name, fr: locales.fr.name }, slots: properties.weapon.slots };
}

/** Sets timestamps and unique slugs. */
class Finisher {
  readonly #slugs = new Map<Kind, Set<string>>();

  *all(kind: Kind, bodies: Iterable<Record<string, unknown>>) {
    let index = 0;
    for (const body of bodies) {
      yield this.record(kind, index, body);
      index += 1;
    }
  }

  record(kind: Kind, index: number, body: Record<string, unknown>) {
    const updatedAt = new Date(START_MS + index * 60_000).toISOString();
    const prepared: Prepared = prepareRecord(kind, body, { updatedAt });
    if (prepared.record === undefined) {
      throw new TypeError(`sample ${kind} ${index}: ${JSON.stringify(prepared.faults)}`);
    }
    let taken = this.#slugs.get(kind);
    if (taken === undefined) {
      taken = new Set();
      this.#slugs.set(kind, taken);
    }
    const own = taken;
    const slug = freeSlug(prepared.record.slug, (candidate) => own.has(candidate));
    own.add(slug);
    return { kind, record: { ...prepared.record, slug } };
  }
}
