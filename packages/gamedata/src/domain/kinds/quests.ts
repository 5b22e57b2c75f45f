import { isObject } from '@plinth/kernel';
import { OBJECTIVE_TYPES } from '../../model/schemas/base.js';
import type { StoredQuest } from '../../model/schemas/stored.js';
import { listColumn, textColumn } from '../data/row.js';
import {
  anyOf,
  id,
  maximum,
  minimum,
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
import { withoutName } from './traders.js';

type Objective = StoredQuest['conditions']['objectives'][number];

const OBJECTIVE_TEXTS = ['target', 'description', 'hint'] as const;

export const QUESTS: KindSpec<'quests'> = {
  kind: 'quests',
  aliases: [
    ['title', 'name'],
    ['conditions.objectives', 'objectives'],
  ],
  prepare({ giver: _giver, name, objectives, ...body }, fault) {
    const prepared: Record<string, unknown> = { ...body };
    if (name !== undefined && body['title'] !== undefined && name !== body['title']) {
      const message = 'name is an alias of title but has a different value';
      fault({ path: '/name', code: 'contradiction', message });
    }
    prepared['title'] ??= name;
    prepared['turnInId'] ??= body['giverId'];
    const conditions = body['conditions'] ?? {};
    if (isObject(conditions)) {
      const own = conditions['objectives'] ?? objectives;
      prepared['conditions'] = {
        ...conditions,
        ...(own !== undefined && { objectives: own }),
      };
    }
    if (isObject(body['reward'])) {
      prepared['reward'] = prepareReward(body['reward'], body['giverId']);
    }
    return prepared;
  },
  columns(record) {
    const { title, gameId, giverId, storylineId, conditions, reward } = record;
    const { objectives } = conditions;
    const maps = objectives.flatMap(({ mapIds }) => mapIds);
    return {
      name: title,
      gameId,
      giverId,
      storylineId,
      level: conditions.level,
      experience: reward.experience,
      prerequisites: unique(conditions.quests.flat()),
      mapIds: unique(conditions.location === 'any' ? maps : [...maps, conditions.location]),
      itemIds: unique(objectives.flatMap(itemsOf)),
      rewardIds: unique([
        ...reward.items.map(({ id: itemId }) => itemId),
        ...reward.unlocks.map(({ itemId }) => itemId),
      ]),
      objective: unique(objectives.map(({ type }) => type)),
    };
  },
  searchTexts: ({ title }) => [title],
  texts: (record) => [
    ...rootTexts(record, ['title', 'description']),
    ...record.conditions.objectives.flatMap((objective) =>
      OBJECTIVE_TEXTS.map((member) => ({
        key: `objectives.${objective.id}.${member}`,
        value: objective[member],
      })),
    ),
  ],
  setText(record, key, value) {
    const own = key === 'name' ? 'title' : key;
    setTextAt(record, own, value, { objectives: () => record.conditions.objectives });
  },
  serve({ locales: _locales, source: _source, ...record }, { nameOf }) {
    const { id: ownId, slug, gameId, title, giverId, reward, conditions, ...rest } = record;
    return {
      id: ownId,
      slug,
      gameId,
      name: title,
      title,
      giver: nameOf('traders', giverId),
      giverId,
      ...rest,
      conditions,
      objectives: conditions.objectives,
      reward: {
        ...reward,
        items: reward.items.map(({ id: itemId, count }) => ({
          id: itemId,
          name: nameOf('items', itemId),
          count,
        })),
        reputation: reward.reputations.find(({ traderId }) => traderId === giverId)?.value ?? 0,
      },
    };
  },
  references: questReferences,
  check: (record, set) => [
    ...checkLocation(record, set),
    // Imported quests may be less complete than quests from editors.
    ...(record.source === undefined ? record.conditions.objectives.flatMap(checkObjective) : []),
    ...checkObjectiveIds(record.conditions.objectives),
  ],
  fields: {
    id,
    title: text('name'),
    name: text('name'),
    level: number('level'),
    experience: number('experience'),
    trader: relation('traders', 'giverId'),
    map: relation('maps', 'mapIds'),
    item: relationBy('items', (row) => [
      ...listColumn(row, 'itemIds'),
      ...listColumn(row, 'rewardIds'),
    ]),
    objective: wordField('objective', OBJECTIVE_TYPES),
    storyline: relation('storyline', 'storylineId'),
  },
  filters: {
    trader: anyOf('trader'),
    map: anyOf('map'),
    item: anyOf('item'),
    objective: anyOf('objective'),
    minLevel: minimum('level'),
    maxLevel: maximum('level'),
    storyline: anyOf('storyline'),
  },
  sortKeys: ['title', 'name', 'level', 'experience', 'id'],
  includes: {
    trader: { kind: 'traders', ids: (row) => [textColumn(row, 'giverId') ?? ''] },
    items: {
      kind: 'items',
      ids: (row) => unique([...listColumn(row, 'itemIds'), ...listColumn(row, 'rewardIds')]),
    },
    maps: { kind: 'maps', ids: (row) => listColumn(row, 'mapIds') },
    prerequisites: { kind: 'quests', ids: (row) => listColumn(row, 'prerequisites') },
  },
};

/** Without `reputations`, `reputation` is the giver's share; otherwise it is a derived number. */
function prepareReward(reward: Record<string, unknown>, giverId: unknown): Record<string, unknown> {
  const { reputation, items, ...rest } = reward;
  return {
    ...rest,
    ...(Array.isArray(items) && { items: items.map((item: unknown) => withoutName(item)) }),
    ...(items !== undefined && !Array.isArray(items) && { items }),
    ...(rest['reputations'] === undefined &&
      typeof reputation === 'number' &&
      reputation !== 0 && { reputations: [{ traderId: giverId, value: reputation }] }),
  };
}

export function itemsOf({ itemIds, keys, toolId, with: extras }: Objective): readonly string[] {
  return [
    ...itemIds,
    ...keys.flat(),
    ...(toolId === null ? [] : [toolId]),
    ...extras.flatMap((extra) => extra.itemIds),
  ];
}

function objectiveReferences(
  objective: Objective,
  root: readonly (string | number)[],
): Reference[] {
  const one = (
    member: 'traderId' | 'moduleId' | 'toolId',
    kind: Reference['kind'],
  ): Reference[] => {
    const target = objective[member];
    return target === null ? [] : [{ path: [...root, member], kind, id: target, repair: 'null' }];
  };
  const list = (
    path: readonly (string | number)[],
    ids: readonly string[],
    kind: Reference['kind'],
  ) =>
    ids.map(
      (target, index): Reference => ({ path: [...path, index], kind, id: target, repair: 'drop' }),
    );
  return [
    ...list([...root, 'itemIds'], objective.itemIds, 'items'),
    ...list([...root, 'mapIds'], objective.mapIds, 'maps'),
    ...one('traderId', 'traders'),
    ...one('moduleId', 'hideout'),
    ...one('toolId', 'items'),
    ...objective.keys.flatMap((group, index) => list([...root, 'keys', index], group, 'items')),
    ...objective.with.flatMap((extra, index) =>
      list([...root, 'with', index, 'itemIds'], extra.itemIds, 'items'),
    ),
  ];
}

function questReferences(record: StoredQuest): readonly Reference[] {
  const { giverId, turnInId, storylineId, conditions, reward, failure, alternatives } = record;
  const found: Reference[] = [
    { path: ['giverId'], kind: 'traders', id: giverId, repair: 'drop', dropDepth: 0 },
    { path: ['turnInId'], kind: 'traders', id: turnInId, repair: 'drop', dropDepth: 0 },
  ];
  if (storylineId !== null) {
    found.push({ path: ['storylineId'], kind: 'storyline', id: storylineId, repair: 'null' });
  }
  for (const [index, group] of conditions.quests.entries()) {
    for (const [inner, questId] of group.entries()) {
      const path = ['conditions', 'quests', index, inner];
      found.push({ path, kind: 'quests', id: questId, repair: 'drop' });
    }
  }
  const traders = (path: readonly (string | number)[], list: readonly { traderId: string }[]) => {
    for (const [index, { traderId }] of list.entries()) {
      const full = [...path, index, 'traderId'];
      found.push({
        path: full,
        kind: 'traders',
        id: traderId,
        repair: 'drop',
        dropDepth: full.length - 1,
      });
    }
  };
  traders(['conditions', 'loyalty'], conditions.loyalty);
  traders(['reward', 'reputations'], reward.reputations);
  traders(['failure', 'reputations'], failure.reputations);
  for (const [index, item] of reward.items.entries()) {
    const path = ['reward', 'items', index, 'id'];
    found.push({ path, kind: 'items', id: item.id, repair: 'drop', dropDepth: 3 });
  }
  for (const [index, { itemId, traderId }] of reward.unlocks.entries()) {
    const path = ['reward', 'unlocks', index];
    const drop = { repair: 'drop', dropDepth: 3 } as const;
    found.push({ path: [...path, 'itemId'], kind: 'items', id: itemId, ...drop });
    if (traderId !== null) {
      found.push({ path: [...path, 'traderId'], kind: 'traders', id: traderId, repair: 'null' });
    }
  }
  for (const [index, questId] of alternatives.entries()) {
    found.push({ path: ['alternatives', index], kind: 'quests', id: questId, repair: 'drop' });
  }
  for (const [index, objective] of conditions.objectives.entries()) {
    found.push(...objectiveReferences(objective, ['conditions', 'objectives', index]));
  }
  return found;
}

/** Rule R13: the location is a map or `any`. */
function checkLocation({ conditions }: StoredQuest, set: KindSpecSet): Fault[] {
  const { location } = conditions;
  if (location === 'any' || set.tables.maps.bySlug(location) !== undefined) return [];
  return [
    {
      path: '/conditions/location',
      code: 'dangling_reference',
      message: `unknown map slug "${location}"`,
    },
  ];
}
type KindSpecSet = Parameters<KindSpec<'quests'>['check']>[1];

/** Required members of an objective by type. Source: gamedata, section 3.4. */
const NEEDS: Readonly<Record<string, readonly (keyof Objective)[]>> = {
  find: ['itemIds'],
  collect: ['itemIds'],
  build: ['itemIds'],
  key: ['itemIds'],
  reputation: ['traderId', 'level'],
  hideout: ['moduleId', 'level'],
  skill: ['skill', 'level'],
  kill: ['target'],
  locate: ['target'],
  mark: ['target'],
  pickup: ['target'],
  warning: ['target'],
  extract: ['target'],
};

function checkObjective(objective: Objective, index: number): Fault[] {
  return (NEEDS[objective.type] ?? []).flatMap((member): Fault[] => {
    const value = objective[member];
    const isThere = Array.isArray(value) ? value.length > 0 : value !== null && value !== '';
    if (isThere) return [];
    return [
      {
        path: `/conditions/objectives/${index}/${member}`,
        code: 'missing_detail',
        message: `an objective of the type "${objective.type}" requires ${member}`,
      },
    ];
  });
}

function checkObjectiveIds(objectives: readonly Objective[]): Fault[] {
  const seen = new Set<string>();
  return objectives.flatMap(({ id: objectiveId }, index): Fault[] => {
    if (!seen.has(objectiveId)) {
      seen.add(objectiveId);
      return [];
    }
    const path = `/conditions/objectives/${index}/id`;
    return [{ path, code: 'duplicate_id', message: `duplicate objective ${objectiveId}` }];
  });
}
