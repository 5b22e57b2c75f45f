import { IMPORTANCES } from '../../model/schemas/stored.js';
import { listColumn } from '../data/row.js';
import {
  anyOf,
  id,
  number,
  relation,
  rootTexts,
  setTextAt,
  text,
  unique,
  wordField,
} from './fields.js';
import type { KindSpec, Reference } from './kind-spec.js';
import { withoutName } from './traders.js';

const TEXTS = ['name', 'description', 'details', 'fullText', 'character', 'timeline'] as const;

export const STORYLINE: KindSpec<'storyline'> = {
  kind: 'storyline',
  prepare(body) {
    const { relatedQuests } = body;
    if (!Array.isArray(relatedQuests)) return { ...body };
    return { ...body, relatedQuests: relatedQuests.map((quest: unknown) => withoutName(quest)) };
  },
  columns: ({ name, order, importance, relatedQuests, relatedCharacters, mapIds, requires }) => ({
    requires,
    name,
    order,
    importance,
    mapIds,
    questIds: relatedQuests.map((quest) => quest.id),
    traderIds: unique(relatedCharacters.flatMap((who) => (who.id === null ? [] : [who.id]))),
  }),
  searchTexts: ({ name, description }) => [name, description],
  texts: (record) => [
    ...rootTexts(record, TEXTS),
    ...record.objectives.map((objective) => ({
      key: `objectives.${objective.id}.description`,
      value: objective.description,
    })),
    ...record.events.flatMap(({ title, description }, index) => [
      { key: `events.${index}.title`, value: title },
      { key: `events.${index}.description`, value: description },
    ]),
  ],
  setText: (record, key, value) =>
    setTextAt(record, key, value, {
      objectives: () => record.objectives,
      events: () => record.events,
    }),
  serve({ locales: _locales, source: _source, relatedQuests, relatedCharacters, ...record }, view) {
    return {
      ...record,
      relatedQuests: relatedQuests.map((quest) => ({
        id: quest.id,
        name: view.nameOf('quests', quest.id),
      })),
      relatedCharacters: relatedCharacters.map(({ id: traderId, name, role }) => ({
        id: traderId,
        name: (traderId === null ? null : view.nameOf('traders', traderId)) ?? name,
        role,
      })),
    };
  },
  references({ relatedQuests, relatedCharacters, requires, mapIds }) {
    const list = (name: string, kind: Reference['kind'], ids: readonly string[]): Reference[] =>
      ids.map((target, index) => ({ path: [name, index], kind, id: target, repair: 'drop' }));
    return [
      ...relatedQuests.map(
        (quest, index): Reference => ({
          path: ['relatedQuests', index, 'id'],
          kind: 'quests',
          id: quest.id,
          repair: 'drop',
          dropDepth: 2,
        }),
      ),
      ...relatedCharacters.flatMap(({ id: traderId }, index): Reference[] =>
        traderId === null
          ? []
          : [
              {
                path: ['relatedCharacters', index, 'id'],
                kind: 'traders',
                id: traderId,
                repair: 'null',
              },
            ],
      ),
      ...list('requires', 'storyline', requires),
      ...list('mapIds', 'maps', mapIds),
    ];
  },
  check: () => [],
  fields: {
    id,
    name: text('name'),
    order: number('order'),
    importance: wordField('importance', IMPORTANCES),
    trader: relation('traders', 'traderIds'),
    quest: relation('quests', 'questIds'),
    map: relation('maps', 'mapIds'),
  },
  filters: {
    importance: anyOf('importance'),
    trader: anyOf('trader'),
    quest: anyOf('quest'),
    map: anyOf('map'),
  },
  sortKeys: ['order', 'name'],
  defaultSort: 'order',
  includes: {
    quests: { kind: 'quests', ids: (row) => unique(listColumn(row, 'questIds')) },
    traders: { kind: 'traders', ids: (row) => listColumn(row, 'traderIds') },
    maps: { kind: 'maps', ids: (row) => unique(listColumn(row, 'mapIds')) },
  },
};
