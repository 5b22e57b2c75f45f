import { isObject } from '@plinth/kernel';
import { slugOf } from '../../../model/normal-text.js';
import { OBJECTIVE_TYPES } from '../../../model/schemas/base.js';
import { ID, isPercent, linkOf, numberOf, type Raw, type Reading, textOf } from './reading.js';

export function readQuests(reading: Reading): void {
  const file = 'quests.json';
  const value = reading.files.get(file);
  if (value === undefined) return;
  const quests = reading.list(file, '', value);
  const gameIds = new Map<string, number>();
  for (const { gameId } of quests) {
    if (typeof gameId === 'string') gameIds.set(gameId, (gameIds.get(gameId) ?? 0) + 1);
  }
  const taken = new Set<string>();
  const objectiveIds = new Set<string>();
  for (const [index, raw] of quests.entries()) {
    const path = `/${index}`;
    let id = String(raw['id'] ?? `q${index}`);
    if (taken.has(id)) {
      reading.warn('duplicate_id', file, `${path}/id`, `duplicate quest ${id}`);
      id = `${id}-${index}`;
    }
    taken.add(id);
    const gameId = textOf(raw['gameId']) || null;
    if (gameId !== null && (gameIds.get(gameId) ?? 0) > 1) {
      reading.warn('shared_game_id', file, `${path}/gameId`, `${gameId} belongs to several quests`);
    }
    reading.add('quests', file, path, readQuest(reading, raw, { id, gameId, path, objectiveIds }));
  }
}

function readQuest(
  reading: Reading,
  raw: Raw,
  options: {
    readonly id: string;
    readonly gameId: string | null;
    readonly path: string;
    readonly objectiveIds: Set<string>;
  },
): Raw {
  const file = 'quests.json';
  const { id, gameId, path } = options;
  const require = isObject(raw['require']) ? raw['require'] : {};
  if (require['level'] === null || require['level'] === undefined) {
    reading.warn('missing_level', file, `${path}/require/level`, 'missing; treated as 0');
  }
  const rawObjectives = Array.isArray(raw['objectives']) ? (raw['objectives'] as Raw[]) : [];
  if (rawObjectives.length === 0)
    reading.warn('no_objectives', file, path, 'the quest has no objectives');
  const objectives = rawObjectives.map((objective, index) =>
    readObjective(reading, Object(objective), { ...options, path: `${path}/objectives/${index}` }),
  );
  const title = textOf(raw['title']) || id;
  const giverId = traderOf(reading, raw['giver'], `${path}/giver`);
  const single = new Set(objectives.map(({ mapIds }) => JSON.stringify(mapIds)));
  const [first] = objectives;
  const location =
    first !== undefined && single.size === 1 ? (first['mapIds'] as string[])[0] : undefined;
  const groups = Array.isArray(require['quests']) ? require['quests'] : [];
  const loyalty = Array.isArray(require['loyalty']) ? (require['loyalty'] as Raw[]) : [];
  const shares = (list: unknown, where: string): Raw[] =>
    (Array.isArray(list) ? (list as Raw[]) : []).flatMap((entry, index) => {
      const traderId = traderOf(reading, Object(entry).trader, `${path}/${where}/${index}`);
      return traderId === undefined ? [] : [{ traderId, value: numberOf(Object(entry).rep) }];
    });
  return {
    id,
    gameId,
    title: reading.cut(file, id, title, 200),
    giverId: giverId ?? String(raw['giver']),
    turnInId:
      traderOf(reading, raw['turnin'] ?? raw['giver'], `${path}/turnin`) ??
      giverId ??
      String(raw['giver']),
    wiki: linkOf(raw['wiki']),
    conditions: {
      location: location === undefined ? 'any' : slugOf(location),
      level: Math.max(0, Math.trunc(numberOf(require['level']))),
      quests: groups.map((group: unknown) => [group].flat().map(String)),
      loyalty: loyalty.flatMap((entry, index) => {
        const traderId = traderOf(reading, entry['trader'], `${path}/require/loyalty/${index}`);
        return traderId === undefined ? [] : [{ traderId, level: numberOf(entry['stage']) }];
      }),
      objectives,
    },
    reward: {
      experience: Math.max(0, numberOf(raw['exp'])),
      reputations: shares(raw['reputation'], 'reputation'),
      unlocks: (Array.isArray(raw['unlocks']) ? raw['unlocks'] : []).flatMap(
        (itemId: unknown, index) => {
          if (typeof itemId === 'string' && ID.test(itemId)) return [{ itemId }];
          reading.warn('invalid_id', file, `${path}/unlocks/${index}`, 'dropped: no valid id');
          return [];
        },
      ),
    },
    failure: { reputations: shares(raw['reputationFailure'], 'reputationFailure') },
    alternatives: (Array.isArray(raw['alternatives']) ? raw['alternatives'] : []).map(String),
    flags: { deprecated: raw['deprecated'] === true },
    extra: { ...(raw['nokappa'] !== undefined && { nokappa: raw['nokappa'] }) },
    locales: reading.locales(raw['locales'], 'title'),
    source: { raw },
  };
}

function traderOf(reading: Reading, number: unknown, path: string): string | undefined {
  const id = reading.traders.get(numberOf(number));
  if (id === undefined)
    reading.warn('dangling_reference', 'quests.json', path, `unknown trader ${String(number)}`);
  return id;
}

function readObjective(
  reading: Reading,
  raw: Raw,
  options: { readonly id: string; readonly path: string; readonly objectiveIds: Set<string> },
): Raw {
  const file = 'quests.json';
  let id = String(raw['id'] ?? '');
  if (id === '' || options.objectiveIds.has(id)) {
    reading.warn('duplicate_objective_id', file, `${options.path}/id`, `duplicate objective ${id}`);
    id = `${options.id}-${id || 'x'}`;
    for (let n = 2; options.objectiveIds.has(id); n++)
      id = `${options.id}-${String(raw['id'] ?? 'x')}-${n}`;
  }
  options.objectiveIds.add(id);
  const type = OBJECTIVE_TYPES.find((known) => known === raw['type']) ?? 'other';
  const targets = [raw['target']].flat();
  const itemIds = targets.filter((target): target is string =>
    reading.itemNames.has(String(target)),
  );
  const names = targets.map(
    (target) => reading.itemNames.get(String(target)) ?? String(target ?? ''),
  );
  const { location, gps } = raw;
  if (location === undefined && type !== 'build') {
    reading.warn('missing_location', file, options.path, 'missing; treated as any map');
  }
  const mapId =
    typeof location === 'number' && location >= 0 ? reading.maps.get(location) : undefined;
  if (typeof location === 'number' && location >= 0 && mapId === undefined) {
    reading.warn('dangling_reference', file, `${options.path}/location`, `unknown map ${location}`);
  }
  const number = numberOf(raw['number']);
  const isPlace = isObject(gps) && isPercent(gps['leftPercent']) && isPercent(gps['topPercent']);
  const tool = typeof raw['tool'] === 'string' ? raw['tool'] : null;
  return {
    id,
    type,
    target: names.join(', ').slice(0, 500),
    count: type === 'reputation' || type === 'skill' ? 1 : Math.max(1, Math.trunc(number)),
    itemIds,
    mapIds: mapId === undefined ? [] : [mapId],
    ...(type === 'reputation' && {
      traderId: reading.traders.get(numberOf(raw['target'])) ?? null,
      level: number,
    }),
    ...(type === 'skill' && { skill: String(raw['target']), level: number }),
    toolId: tool !== null && reading.itemNames.has(tool) ? tool : null,
    hint: textOf(raw['hint']) || null,
    with: (Array.isArray(raw['with']) ? raw['with'] : []).map((extra: unknown) =>
      readExtra(reading, extra),
    ),
    position: isPlace
      ? { x: gps['leftPercent'], y: gps['topPercent'], floor: textOf(gps['floor']) || null }
      : null,
  };
}

function readExtra(reading: Reading, extra: unknown): Raw {
  if (!isObject(extra)) return { type: 'text', name: String(extra).slice(0, 200) };
  const { type, name, value, id } = extra;
  const ids = [id].flat().filter((one): one is string => reading.itemNames.has(String(one)));
  return {
    type: textOf(type).slice(0, 64) || 'text',
    name: name === undefined ? null : String(name).slice(0, 200),
    value:
      typeof value === 'number' ? value : value === undefined ? null : String(value).slice(0, 200),
    itemIds: ids,
  };
}
