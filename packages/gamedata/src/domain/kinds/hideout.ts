import { isObject } from '@plinth/kernel';
import type { StoredModule } from '../../model/schemas/stored.js';
import { listColumn } from '../data/row.js';
import {
  anyOf,
  id,
  number,
  relation,
  relationBy,
  rootTexts,
  setTextAt,
  text,
  unique,
  wordField,
} from './fields.js';
import type { Fault, KindSpec, Reference } from './kind-spec.js';

type Level = StoredModule['levels'][number];

export const HIDEOUT: KindSpec<'hideout'> = {
  kind: 'hideout',
  prepare({ bonuses: _bonuses, level: _level, ...body }) {
    const { requirements } = body;
    if (!isObject(requirements)) return body;
    const { materials: _materials, ...rest } = requirements;
    return { ...body, requirements: rest };
  },
  columns: ({ name, levels }) => ({
    name,
    level: highest(levels),
    needs: levels.map(({ level, modules }) => ({ level, modules })),
    items: levels.flatMap(({ level, items }) => items.map((item) => ({ id: item.id, level }))),
    traderIds: unique(levels.flatMap(({ traders }) => traders.map((trader) => trader.id))),
    moduleIds: unique(levels.flatMap(({ modules }) => modules.map((module) => module.id))),
    bonus: unique(levels.flatMap(({ bonuses }) => bonuses.map(({ type }) => type))),
  }),
  searchTexts: ({ name }) => [name],
  texts: (record) => [
    ...rootTexts(record, ['name', 'description']),
    ...record.levels.map(({ level, description }) => ({
      key: `levels.${level}.description`,
      value: description,
    })),
  ],
  setText: (record, key, value) => setTextAt(record, key, value, { levels: () => record.levels }),
  serve({ locales: _locales, source: _source, requirements, levels, ...record }) {
    return {
      ...record,
      level: highest(levels),
      requirements: { electricity: requirements.electricity, materials: sumOfItems(levels) },
      bonuses: levels.flatMap(({ level, bonuses }) =>
        bonuses.map(({ type, value }) => ({ type, value, level })),
      ),
      levels,
    };
  },
  references({ levels }) {
    return levels.flatMap((level, levelIndex) =>
      (['items', 'modules', 'traders'] as const).flatMap((member) =>
        level[member].map(
          (entry, index): Reference => ({
            path: ['levels', levelIndex, member, index, 'id'],
            kind: member === 'modules' ? 'hideout' : member,
            id: entry.id,
            repair: 'drop',
            dropDepth: 4,
          }),
        ),
      ),
    );
  },
  check: checkLevels,
  fields: {
    id,
    name: text('name'),
    level: number('level'),
    bonus: wordField('bonus'),
    item: relationBy('items', (row) =>
      listColumn<{ id: string }>(row, 'items').map((item) => item.id),
    ),
    trader: relation('traders', 'traderIds'),
  },
  filters: { bonus: anyOf('bonus'), item: anyOf('item'), trader: anyOf('trader') },
  sortKeys: ['name', 'level'],
  includes: {
    items: {
      kind: 'items',
      ids: (row) => unique(listColumn<{ id: string }>(row, 'items').map((item) => item.id)),
    },
    traders: { kind: 'traders', ids: (row) => listColumn(row, 'traderIds') },
    modules: { kind: 'hideout', ids: (row) => listColumn(row, 'moduleIds') },
  },
};

const highest = (levels: readonly Level[]): number =>
  levels.reduce((found, { level }) => Math.max(found, level), 0);

function sumOfItems(levels: readonly Level[]): { id: string; count: number }[] {
  const sums = new Map<string, number>();
  for (const { items } of levels) {
    for (const item of items) sums.set(item.id, (sums.get(item.id) ?? 0) + item.count);
  }
  return [...sums].map(([itemId, count]) => ({ id: itemId, count }));
}

/** Rule R8: levels have no gaps, and required levels exist. */
function checkLevels({ levels }: StoredModule, set: Parameters<KindSpec['check']>[1]): Fault[] {
  return levels.flatMap(({ level, modules }, index): Fault[] => [
    ...(level === index + 1
      ? []
      : [
          {
            path: `/levels/${index}/level`,
            code: 'level_gap',
            message: `levels must be consecutive and start at 1; got ${level}`,
          },
        ]),
    ...modules.flatMap((required, inner): Fault[] => {
      const most = set.number('hideout', required.id, 'level');
      if (most === null || required.level <= most) return [];
      return [
        {
          path: `/levels/${index}/modules/${inner}/level`,
          code: 'level_too_high',
          message: `level ${required.level} is too high; the highest level of module ${required.id} is ${most}`,
        },
      ];
    }),
  ]);
}
