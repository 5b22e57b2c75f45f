import { isObject } from '@plinth/kernel';
import type { StoredTrader } from '../../model/schemas/stored.js';
import { listColumn } from '../data/row.js';
import { anyOf, id, relation, rootTexts, setTextAt, text, unique, wordField } from './fields.js';
import type { Fault, KindSpec, Reference } from './kind-spec.js';

export const TRADERS: KindSpec<'traders'> = {
  kind: 'traders',
  prepare({ quests: _quests, level: _level, ...body }) {
    const prepared: Record<string, unknown> = { ...body };
    const { inventory, currencies } = prepared;
    if (Array.isArray(inventory)) {
      prepared['inventory'] = inventory.map((offer: unknown) => withoutName(offer));
    }
    prepared['currency'] ??= Array.isArray(currencies) ? currencies[0] : undefined;
    if (currencies === undefined && typeof prepared['currency'] === 'string') {
      prepared['currencies'] = [prepared['currency']];
    }
    return prepared;
  },
  columns(record) {
    const { name, fullName, currency, currencies, mapIds, inventory } = record;
    return {
      name,
      fullName,
      currency: unique([currency, ...currencies]),
      mapIds,
      level: levelOf(record),
      inventory: inventory.map((offer) => ({
        id: offer.id,
        level: offer.level,
        price: offer.price,
        currency: offer.currency,
      })),
    };
  },
  searchTexts: ({ name, fullName }) => [name, fullName],
  texts: (record) => rootTexts(record, ['name', 'fullName', 'description', 'location']),
  setText: (record, key, value) => setTextAt(record, key, value),
  serve({ locales: _locales, source: _source, inventory, ...record }, { set, nameOf }) {
    return {
      ...record,
      level: levelOf(record),
      inventory: inventory.map(({ id: itemId, ...offer }) => ({
        id: itemId,
        name: nameOf('items', itemId),
        ...offer,
      })),
      quests: set.relations.questsOfTrader
        .of(record.id)
        .map((questId) => ({ id: questId, name: nameOf('quests', questId) })),
    };
  },
  references({ inventory, mapIds }) {
    return [
      ...inventory.flatMap(({ id: itemId, questId }, index): Reference[] => [
        {
          path: ['inventory', index, 'id'],
          kind: 'items',
          id: itemId,
          repair: 'drop',
          dropDepth: 2,
        },
        ...(questId === null
          ? []
          : [
              {
                path: ['inventory', index, 'questId'],
                kind: 'quests',
                id: questId,
                repair: 'null',
              } as const,
            ]),
      ]),
      ...mapIds.map(
        (mapId, index): Reference => ({
          path: ['mapIds', index],
          kind: 'maps',
          id: mapId,
          repair: 'drop',
        }),
      ),
    ];
  },
  check(record) {
    const highest = levelOf(record);
    return record.inventory.flatMap(({ level }, index): Fault[] =>
      level <= highest
        ? []
        : [
            {
              path: `/inventory/${index}/level`,
              code: 'level_too_high',
              message: `the offer requires level ${level}, but the highest loyalty level of the trader is ${highest}`,
            },
          ],
    );
  },
  fields: {
    id,
    name: text('name'),
    currency: wordField('currency'),
    map: relation('maps', 'mapIds'),
  },
  filters: { currency: anyOf('currency'), map: anyOf('map') },
  sortKeys: ['name', 'id'],
  includes: {
    quests: { kind: 'quests', ids: (row, { relations }) => relations.questsOfTrader.of(row.id) },
    items: {
      kind: 'items',
      ids: (row) => unique(listColumn<{ id: string }>(row, 'inventory').map((offer) => offer.id)),
    },
  },
};

const levelOf = ({ loyalty }: Pick<StoredTrader, 'loyalty'>): number =>
  loyalty.reduce((highest, { level }) => Math.max(highest, level), 1);

/** Removes the read-only name of an embedded record. */
export function withoutName(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  const { name: _derived, ...rest } = entry;
  return rest;
}
