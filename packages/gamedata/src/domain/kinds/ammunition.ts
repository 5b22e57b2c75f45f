import { isObject } from '@plinth/kernel';
import { AMMO_TYPES } from '../../model/schemas/stored.js';
import { textColumn } from '../data/row.js';
import {
  anyOf,
  flag,
  id,
  maximum,
  minimum,
  number,
  relationBy,
  rootTexts,
  setTextAt,
  text,
  wordField,
} from './fields.js';
import type { Fault, KindSpec } from './kind-spec.js';

/** Pairs of aliases for one number. Source: gamedata, section 3.2. */
const BALLISTIC_ALIASES = [
  ['penetration', 'penetrationPower'],
  ['fragmentation', 'fragmentationChance'],
] as const;

export const AMMUNITION: KindSpec<'ammunition'> = {
  kind: 'ammunition',
  aliases: [
    ['ballistics.penetration', 'ballistics.penetrationPower'],
    ['ballistics.fragmentation', 'ballistics.fragmentationChance'],
  ],
  prepare({ properties, ...body }, fault) {
    const prepared: Record<string, unknown> = { ...body };
    prepared['shortName'] ??= body['name'];
    if (prepared['weight'] === undefined && isObject(properties)) {
      prepared['weight'] = properties['weight'];
    }
    if (isObject(body['ballistics'])) {
      prepared['ballistics'] = prepareBallistics(body['ballistics'], fault);
    }
    return prepared;
  },
  columns({ name, shortName, itemId, caliber, ammoType, tracer, projectileCount, ballistics }) {
    const { damage, penetration, armorDamage } = ballistics;
    return {
      name,
      shortName,
      itemId,
      caliber,
      ammoType,
      tracer,
      projectileCount,
      damage,
      penetration,
      armorDamage,
    };
  },
  searchTexts: ({ name, shortName }) => [name, shortName],
  texts: (record) => rootTexts(record, ['name', 'shortName']),
  setText: (record, key, value) => setTextAt(record, key, value),
  serve({ locales: _locales, source: _source, ballistics, ...record }, { set }) {
    const { damage, penetration, armorDamage, fragmentation, ricochetChance, ...rest } = ballistics;
    return {
      ...record,
      ballistics: {
        damage,
        penetration,
        penetrationPower: penetration,
        armorDamage,
        fragmentation,
        fragmentationChance: fragmentation,
        ricochet: ricochetText(ricochetChance),
        ricochetChance,
        ...rest,
      },
      properties: {
        cost: record.itemId === null ? null : set.number('items', record.itemId, 'price'),
        weight: record.weight,
      },
    };
  },
  references: ({ itemId }) =>
    itemId === null ? [] : [{ path: ['itemId'], kind: 'items', id: itemId, repair: 'null' }],
  check: () => [],
  fields: {
    id,
    name: text('name'),
    caliber: { type: 'caliber', get: (row) => textColumn(row, 'caliber') },
    ammoType: wordField('ammoType', AMMO_TYPES),
    tracer: flag('tracer'),
    damage: number('damage'),
    penetration: number('penetration'),
    armorDamage: number('armorDamage'),
    price: {
      type: 'number',
      get: (row, set) => {
        const itemId = textColumn(row, 'itemId');
        return itemId === null ? null : set.number('items', itemId, 'price');
      },
    },
    trader: relationBy('traders', (row, { relations }) =>
      relations.soldBy.of(textColumn(row, 'itemId') ?? '').map(({ traderId }) => traderId),
    ),
  },
  filters: {
    caliber: anyOf('caliber'),
    ammoType: anyOf('ammoType'),
    tracer: anyOf('tracer'),
    minDamage: minimum('damage'),
    maxDamage: maximum('damage'),
    minPenetration: minimum('penetration'),
    maxPenetration: maximum('penetration'),
    trader: anyOf('trader'),
  },
  sortKeys: ['name', 'caliber', 'damage', 'penetration', 'armorDamage', 'price', 'id'],
  defaultSort: '-damage',
  includes: {
    item: { kind: 'items', ids: (row) => [textColumn(row, 'itemId') ?? ''].filter(Boolean) },
  },
};

function prepareBallistics(
  { ricochet: _derived, ...given }: Record<string, unknown>,
  fault: (fault: Fault) => void,
): Record<string, unknown> {
  const ballistics = { ...given };
  for (const [name, alias] of BALLISTIC_ALIASES) {
    const { [name]: value, [alias]: other } = given;
    if (value !== undefined && other !== undefined && value !== other) {
      fault({
        path: `/ballistics/${alias}`,
        code: 'contradiction',
        message: `${alias} is an alias of ${name} but has a different value`,
      });
    }
    if (value === undefined && other !== undefined) ballistics[name] = other;
    delete ballistics[alias];
  }
  return ballistics;
}

function ricochetText(chance: number): string {
  if (chance === 0) return 'none';
  if (chance < 0.15) return 'low';
  return chance < 0.35 ? 'medium' : 'high';
}
