import { isObject } from '@plinth/kernel';
import { RAID_LEVELS } from '../../model/schemas/stored.js';
import { anyOf, id, maximum, number, rootTexts, setTextAt, text, wordField } from './fields.js';
import type { KindSpec, Reference } from './kind-spec.js';

export const MAPS: KindSpec<'maps'> = {
  kind: 'maps',
  prepare({ quests: _derived, ...body }) {
    const { bosses } = body;
    return { ...body, ...(Array.isArray(bosses) && { bosses: bosses.map(prepareBoss) }) };
  },
  columns: ({ name, min_level, players, duration, raidlevel, bosses }) => ({
    name,
    min_level,
    players,
    duration,
    raidlevel,
    bosses: bosses.map((boss) => boss.name),
  }),
  searchTexts: ({ name }) => [name],
  texts: (record) => [
    ...rootTexts(record, ['name', 'description']),
    ...record.extracts.map(({ description }, index) => ({
      key: `extracts.${index}.description`,
      value: description,
    })),
  ],
  setText: (record, key, value) =>
    setTextAt(record, key, value, { extracts: () => record.extracts }),
  serve({ locales: _locales, source: _source, bosses, ...record }, { set, nameOf }) {
    return {
      ...record,
      bosses: bosses.map(({ name, description, spawnChance }) => ({
        name,
        description,
        // Two-decimal chances become integer percentages; finer values keep their decimals.
        spawnRate: `${Number((spawnChance * 100).toFixed(4))}%`,
        spawnChance,
      })),
      quests: set.relations.questsOfMap
        .of(record.id)
        .map((questId) => ({ id: questId, name: nameOf('quests', questId) })),
    };
  },
  references({ loot, accessItemIds }) {
    return [
      ...loot.flatMap(({ itemIds }, lootIndex) =>
        itemIds.map(
          (itemId, index): Reference => ({
            path: ['loot', lootIndex, 'itemIds', index],
            kind: 'items',
            id: itemId,
            repair: 'drop',
          }),
        ),
      ),
      ...accessItemIds.map(
        (itemId, index): Reference => ({
          path: ['accessItemIds', index],
          kind: 'items',
          id: itemId,
          repair: 'drop',
        }),
      ),
    ];
  },
  check: () => [],
  fields: {
    id,
    name: text('name'),
    min_level: number('min_level'),
    players: number('players'),
    duration: number('duration'),
    raidlevel: wordField('raidlevel', RAID_LEVELS),
    boss: wordField('bosses'),
  },
  filters: {
    maxMinLevel: maximum('min_level'),
    raidlevel: anyOf('raidlevel'),
    boss: anyOf('boss'),
  },
  sortKeys: ['name', 'min_level', 'players', 'duration'],
  includes: {
    quests: { kind: 'quests', ids: (row, { relations }) => relations.questsOfMap.of(row.id) },
  },
};

/** `spawnRate` is the chance as text. Without `spawnChance`, it determines the chance. */
function prepareBoss(boss: unknown): unknown {
  if (!isObject(boss)) return boss;
  const { spawnRate, ...rest } = boss;
  if (rest['spawnChance'] !== undefined || typeof spawnRate !== 'string') return rest;
  const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(spawnRate)?.[1];
  return { ...rest, spawnChance: percent === undefined ? spawnRate : Number(percent) / 100 };
}
