import { CATEGORIES, RARITIES, type StoredItem } from '../../model/schemas/stored.js';
import { numberColumn, textColumn } from '../data/row.js';
import {
  anyOf,
  id,
  maximum,
  minimum,
  number,
  relationBy,
  rootTexts,
  setTextAt,
  text,
  unique,
  wordField,
} from './fields.js';
import type { Fault, KindSpec, Reference } from './kind-spec.js';

const TEXTS = ['name', 'shortName', 'description'] as const;

export const ITEMS: KindSpec<'items'> = {
  kind: 'items',
  prepare({ relations: _derived, ...body }) {
    return body;
  },
  columns({ name, shortName, rarity, category, tags, weight, handbook, updatedAt, properties }) {
    const { weapon, mod } = properties;
    return {
      name,
      shortName,
      rarity,
      category,
      tags,
      weight,
      price: handbook.price,
      parent: handbook.parent,
      updatedAt,
      // Inputs for computing presets.
      ...(weapon && {
        weapon: {
          ergonomics: weapon.ergonomics,
          recoil: weapon.recoil,
          accuracy: weapon.accuracy,
          fireRate: weapon.fireRate,
          defaultAmmoId: weapon.defaultAmmoId,
        },
      }),
      ...(mod && { mod }),
    };
  },
  searchTexts: ({ name, shortName }) => [name, shortName],
  texts: (record) => rootTexts(record, TEXTS),
  setText: (record, key, value) => setTextAt(record, key, value),
  serve({ locales: _locales, source: _source, ...record }, { set }) {
    const { relations } = set;
    return {
      ...record,
      relations: {
        soldBy: relations.soldBy.of(record.id),
        quests: relations.questsOfItem.of(record.id),
        rewardedBy: relations.rewardedBy.of(record.id),
        hideout: relations.hideoutOfItem.of(record.id),
        presets: relations.presetsOfItem.of(record.id),
      },
    };
  },
  references({ properties: { weapon, key } }) {
    const found: Reference[] = [];
    if (weapon?.defaultAmmoId) {
      found.push({
        path: ['properties', 'weapon', 'defaultAmmoId'],
        kind: 'ammunition',
        id: weapon.defaultAmmoId,
        repair: 'null',
      });
    }
    for (const [slotIndex, slot] of (weapon?.slots ?? []).entries()) {
      for (const [index, itemId] of slot.itemIds.entries()) {
        const path = ['properties', 'weapon', 'slots', slotIndex, 'itemIds', index];
        found.push({ path, kind: 'items', id: itemId, repair: 'drop' });
      }
    }
    if (key?.mapId) {
      const path = ['properties', 'key', 'mapId'];
      found.push({ path, kind: 'maps', id: key.mapId, repair: 'null' });
    }
    return found;
  },
  check({ handbook, category, properties }) {
    const faults: Fault[] = [];
    // Rule R12: the category exists.
    if (handbook.parent !== null && !isCategory(handbook.parent)) {
      faults.push({
        path: '/handbook/parent',
        code: 'unknown_category',
        message: `unknown category ${handbook.parent}`,
      });
    }
    const [own] = Object.keys(properties);
    if (own !== undefined && own !== propertiesOf(category)) {
      faults.push({
        path: `/properties/${own}`,
        code: 'wrong_properties',
        message: `an item of the category "${category}" cannot have "${own}" properties`,
      });
    }
    return faults;
  },
  fields: {
    id,
    name: text('name'),
    shortName: text('shortName'),
    category: wordField('category', CATEGORIES),
    rarity: wordField('rarity', RARITIES),
    tag: wordField('tags'),
    price: number('price'),
    weight: number('weight'),
    updatedAt: text('updatedAt'),
    trader: relationBy('traders', (row, { relations }) =>
      relations.soldBy.of(row.id).map(({ traderId }) => traderId),
    ),
    quest: relationBy('quests', (row, { relations }) => [
      ...relations.questsOfItem.of(row.id),
      ...relations.rewardedBy.of(row.id),
    ]),
  },
  filters: {
    category: anyOf('category'),
    rarity: anyOf('rarity'),
    tag: anyOf('tag'),
    minPrice: minimum('price'),
    maxPrice: maximum('price'),
    minWeight: minimum('weight'),
    maxWeight: maximum('weight'),
    trader: anyOf('trader'),
    quest: anyOf('quest'),
  },
  sortKeys: ['name', 'shortName', 'id', 'rarity', 'price', 'weight', 'updatedAt'],
  includes: {
    category: { kind: 'categories', ids: (row) => [textColumn(row, 'category') ?? 'unknown'] },
    quests: {
      kind: 'quests',
      ids: (row, { relations }) =>
        unique([...relations.questsOfItem.of(row.id), ...relations.rewardedBy.of(row.id)]),
    },
    hideout: {
      kind: 'hideout',
      ids: (row, { relations }) =>
        unique(relations.hideoutOfItem.of(row.id).map(({ moduleId }) => moduleId)),
    },
    traders: {
      kind: 'traders',
      ids: (row, { relations }) =>
        unique(relations.soldBy.of(row.id).map(({ traderId }) => traderId)),
    },
    presets: {
      kind: 'item-presets',
      ids: (row, { relations }) => relations.presetsOfItem.of(row.id),
    },
    ammunition: {
      kind: 'ammunition',
      ids: (row, { relations }) => relations.ammunitionOfItem.of(row.id),
    },
  },
};

/** Armor categories share the armor properties. */
function propertiesOf(category: string): string {
  return category === 'helmet'
    ? 'armor'
    : category === 'rig' || category === 'backpack'
      ? 'container'
      : category;
}

/** Category groups of the handbook. Source: gamedata, section 2.1 (categories/list). */
const CATEGORY_PARENTS: Readonly<Record<string, string | null>> = {
  weapon: 'combat',
  ammo: 'combat',
  magazine: 'combat',
  mod: 'combat',
  armor: 'gear',
  helmet: 'gear',
  rig: 'gear',
  backpack: 'gear',
  medical: 'supplies',
  food: 'supplies',
  key: 'valuables',
  container: 'valuables',
  barter: 'valuables',
  currency: 'valuables',
  unknown: null,
};
const CATEGORY_GROUPS = ['combat', 'gear', 'supplies', 'valuables'] as const;

export function isCategory(categoryId: string): boolean {
  return (
    Object.hasOwn(CATEGORY_PARENTS, categoryId) ||
    (CATEGORY_GROUPS as readonly string[]).includes(categoryId)
  );
}

/** Returns all categories with the number of items in them and in their subcategories. */
export function listCategories(rows: Iterable<import('../data/row.js').Row>): readonly {
  readonly id: string;
  readonly name: string;
  readonly parent: string | null;
  readonly count: number;
}[] {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const category = textColumn(row, 'category') ?? 'unknown';
    counts.set(category, (counts.get(category) ?? 0) + 1);
  }
  const name = (category: string): string => category.charAt(0).toUpperCase() + category.slice(1);
  const own = Object.entries(CATEGORY_PARENTS).map(([category, parent]) => ({
    id: category,
    name: name(category),
    parent,
    count: counts.get(category) ?? 0,
  }));
  const groups = CATEGORY_GROUPS.map((group) => ({
    id: group,
    name: name(group),
    parent: null,
    count: own.reduce((sum, { parent, count }) => (parent === group ? sum + count : sum), 0),
  }));
  return [...groups, ...own];
}

export interface PresetInputs {
  readonly weapon: Weapon | undefined;
  readonly mod: Mod | undefined;
  readonly weight: number | null;
}
interface Weapon {
  readonly ergonomics: number | null;
  readonly recoil: number | null;
  readonly accuracy: number | null;
  readonly fireRate: number | null;
  readonly defaultAmmoId: string | null;
}
type Mod = NonNullable<StoredItem['properties']['mod']>;

/** Returns the inputs of an item for computing presets. */
export function presetInputs(row: import('../data/row.js').Row): PresetInputs {
  const { weapon, mod } = row.columns;
  return {
    weapon: weapon as Weapon | undefined, // set by `columns` above
    mod: mod as Mod | undefined,
    weight: numberColumn(row, 'weight'),
  };
}
