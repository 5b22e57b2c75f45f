import type { StoredPreset } from '../../model/schemas/stored.js';
import type { DataSet } from '../data/data-set.js';
import { listColumn, numberColumn, type Row, textColumn } from '../data/row.js';
import { anyOf, flag, id, relation, rootTexts, setTextAt, text, unique } from './fields.js';
import { presetInputs } from './items.js';
import type { Fault, Field, KindSpec, Reference } from './kind-spec.js';
import { withoutName } from './traders.js';

export const ITEM_PRESETS: KindSpec<'item-presets'> = {
  kind: 'item-presets',
  prepare(body) {
    const prepared: Record<string, unknown> = { ...body };
    for (const derived of NUMBERS) delete prepared[derived];
    const { mods, parts, baseId } = body;
    if (Array.isArray(mods)) prepared['mods'] = mods.map((mod: unknown) => withoutName(mod));
    if (parts === undefined && typeof baseId === 'string') {
      const ids = Array.isArray(mods)
        ? mods.map((mod: unknown) => Reflect.get(Object(mod), 'item'))
        : [];
      prepared['parts'] = [baseId, ...ids].map((part) => ({ id: part, quantity: 1 }));
    }
    return prepared;
  },
  columns: ({ name, baseId, default: isDefault, mods, parts }) => ({
    name,
    baseId,
    default: isDefault,
    mods: mods.map(({ item }) => item),
    parts,
    partIds: unique([baseId, ...mods.map(({ item }) => item), ...parts.map((part) => part.id)]),
  }),
  searchTexts: ({ name }) => [name],
  texts: (record) => rootTexts(record, ['name', 'appendName', 'description']),
  setText: (record, key, value) => setTextAt(record, key, value),
  serve({ locales: _locales, source: _source, mods, ...record }, { set, nameOf }) {
    const row = set.row('item-presets', record.id);
    return {
      ...record,
      mods: mods.map(({ slot, item }) => ({ slot, item, name: nameOf('items', item) })),
      ...(row === undefined ? NO_NUMBERS : presetNumbers(row, set)),
    };
  },
  references({ baseId, mods, parts }) {
    const drop = (list: string, member: string, target: string, index: number): Reference => ({
      path: [list, index, member],
      kind: 'items',
      id: target,
      repair: 'drop',
      dropDepth: 2,
    });
    return [
      { path: ['baseId'], kind: 'items', id: baseId, repair: 'drop', dropDepth: 0 },
      ...mods.map(({ item }, index) => drop('mods', 'item', item, index)),
      ...parts.map((part, index) => drop('parts', 'id', part.id, index)),
    ];
  },
  check({ baseId, parts }: StoredPreset): Fault[] {
    const [first] = parts;
    if (first === undefined || first.id === baseId) return [];
    return [
      {
        path: '/parts/0/id',
        code: 'wrong_base',
        message: `the first part must be the base item ${baseId}`,
      },
    ];
  },
  fields: {
    id,
    name: text('name'),
    baseId: relation('items', 'baseId'),
    part: relation('items', 'partIds'),
    default: flag('default'),
    ergonomics: computed('ergonomics'),
    recoil: computed('recoil'),
    weight: computed('weight'),
    accuracy: computed('accuracy'),
  },
  filters: { baseId: anyOf('baseId'), part: anyOf('part'), default: anyOf('default') },
  sortKeys: ['name', 'ergonomics', 'recoil', 'weight', 'accuracy'],
  includes: {
    base: { kind: 'items', ids: (row) => [textColumn(row, 'baseId') ?? ''] },
    items: { kind: 'items', ids: (row) => listColumn(row, 'partIds') },
  },
};

const NUMBERS = [
  'ergonomics',
  'weight',
  'recoil',
  'accuracy',
  'fireRate',
  'damagePerShot',
] as const;
export type PresetNumbers = Record<(typeof NUMBERS)[number], number | null>;

const NO_NUMBERS: PresetNumbers = {
  ergonomics: null,
  weight: null,
  recoil: null,
  accuracy: null,
  fireRate: null,
  damagePerShot: null,
};

function computed(name: keyof PresetNumbers): Field {
  return { type: 'number', get: (row, set) => presetNumbers(row, set)[name] };
}

const clamp = (value: number): number => Math.min(100, Math.max(0, value));

/**
 * Computes the numbers of a preset from its base and parts; `null` where an input is unknown.
 * Source: gamedata, section 3.7.
 */
function presetNumbers(row: Row, set: DataSet): PresetNumbers {
  const base = set.row('items', textColumn(row, 'baseId') ?? '');
  const weapon = base === undefined ? undefined : presetInputs(base).weapon;
  const mods = listColumn(row, 'mods').map((itemId) => {
    const item = set.row('items', itemId);
    return item === undefined ? undefined : presetInputs(item).mod;
  });
  const sum = (member: 'ergonomics' | 'recoilPercent' | 'accuracyPercent'): number | null =>
    mods.reduce<number | null>(
      (total, mod) => (total === null || mod === undefined ? null : total + mod[member]),
      0,
    );
  const both = (
    own: number | null | undefined,
    ofMods: number | null,
    combine: (a: number, b: number) => number,
  ): number | null => (own == null || ofMods === null ? null : combine(own, ofMods));
  return {
    ergonomics: both(weapon?.ergonomics, sum('ergonomics'), (a, b) => clamp(a + b)),
    weight: weightOf(row, set),
    recoil: both(weapon?.recoil, sum('recoilPercent'), (a, b) => Math.round(a * (1 + b / 100))),
    accuracy: both(weapon?.accuracy, sum('accuracyPercent'), (a, b) =>
      clamp(Math.round(a * (1 + b / 100))),
    ),
    fireRate: weapon?.fireRate ?? null,
    damagePerShot: damageOf(weapon?.defaultAmmoId ?? null, set),
  };
}

function weightOf(row: Row, set: DataSet): number | null {
  let total = 0;
  for (const { id: itemId, quantity } of listColumn<{ id: string; quantity: number }>(
    row,
    'parts',
  )) {
    const weight = set.number('items', itemId, 'weight');
    if (weight === null) return null;
    total += weight * quantity;
  }
  return Math.round(total * 1000) / 1000;
}

function damageOf(ammoId: string | null, set: DataSet): number | null {
  const ammo = ammoId === null ? undefined : set.row('ammunition', ammoId);
  if (ammo === undefined) return null;
  const damage = numberColumn(ammo, 'damage');
  return damage === null ? null : damage * (numberColumn(ammo, 'projectileCount') ?? 1);
}
