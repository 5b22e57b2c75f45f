import { isObject } from '@plinth/kernel';
import type { Kind } from '../../../model/kinds.js';
import type { StoredRecords } from '../../../model/schemas/stored.js';
import type { DataSet } from '../../data/data-set.js';
import { parseRow } from '../../data/record-rows.js';

type Raw = Record<string, unknown>;

/**
 * Writes the set as the community's files. Imported records keep their raw form except for later
 * edits; other records have the members of their kind.
 * Source: gamedata, section 8.3.
 */
export function writeTarkovData(set: DataSet): Record<string, unknown> {
  const files: Record<string, unknown> = {};
  const put = (file: string, value: unknown, isThere: boolean): void => {
    if (isThere) files[file] = value;
  };
  const items = all(set, 'items');
  const isList = items.some(({ source }) => sourceOf(source)['layout'] === 'list');
  const rawItems = items.map((item): [string, Raw] => [item.id, rawItem(item)]);
  put(
    'items.en.json',
    isList ? { data: { items: rawItems.map(([, raw]) => raw) } } : Object.fromEntries(rawItems),
    items.length > 0,
  );
  for (const [language, records] of translations(items)) {
    files[`items.${language}.json`] = isList
      ? { data: { items: Object.values(records) } }
      : records;
  }
  const byKey = <K extends Kind>(kind: K, raw: (record: StoredRecords[K]) => Raw) =>
    Object.fromEntries(
      all(set, kind).map((record) => [
        String(
          sourceOf(record.source)['key'] ??
            (kind === 'traders' || kind === 'maps' ? record.slug : record.id),
        ),
        raw(record),
      ]),
    );
  const has = (kind: Kind): boolean => set.tables[kind].rows.length > 0;
  put('ammunition.json', byKey('ammunition', rawAmmunition), has('ammunition'));
  put(
    'traders.json',
    byKey('traders', (trader) => rawTrader(trader, set)),
    has('traders'),
  );
  put(
    'maps.json',
    byKey('maps', (map) => rawMap(map, set)),
    has('maps'),
  );
  put('item_presets.json', byKey('item-presets', rawPreset), has('item-presets'));
  put(
    'quests.json',
    all(set, 'quests').map((quest) => rawQuest(quest, set)),
    has('quests'),
  );
  put('hideout.json', hideoutFile(set), has('hideout'));
  put('levels.json', levelsFile(set), has('levels'));
  put('storyline.json', storylineFile(set), has('storyline'));
  return files;
}

const all = <K extends Kind>(set: DataSet, kind: K): StoredRecords[K][] =>
  set.tables[kind].rows.map((row) => parseRow(kind, row));

const sourceOf = (source: unknown): Raw => (isObject(source) ? source : {});
const rawOf = (source: unknown): Raw => {
  const { raw } = sourceOf(source);
  return isObject(raw) ? structuredClone(raw) : {};
};

/**
 * Updates members that differ from their imported value. `isSame` compares a raw value with the
 * value read from it.
 */
function update(
  raw: Raw,
  members: Readonly<Record<string, unknown>>,
  isSame: (raw: unknown, own: unknown) => boolean = (a, b) => (a ?? null) === (b ?? null),
): Raw {
  for (const [name, own] of Object.entries(members)) {
    if (isSame(raw[name], own)) continue;
    if (own === undefined || (own === null && !Object.hasOwn(raw, name))) continue;
    raw[name] = own;
  }
  return raw;
}

const isSameText = (raw: unknown, own: unknown): boolean =>
  (raw ?? '') === (own ?? '') ||
  (typeof raw === 'string' && typeof own === 'string' && raw.startsWith(own));

const isSameNumber = (raw: unknown, own: unknown): boolean => (raw ?? 0) === (own ?? 0);

function rawItem(item: StoredRecords['items']): Raw {
  const raw = rawOf(item.source);
  if (Object.keys(raw).length === 0)
    return { id: item.id, name: item.name, shortName: item.shortName };
  if (raw['name'] === undefined && item.name === item.id) return raw;
  return update(raw, { name: item.name, shortName: item.shortName }, isSameText);
}

function translations(
  items: readonly StoredRecords['items'][],
): Map<string, Record<string, unknown>> {
  const found = new Map<string, Record<string, unknown>>();
  for (const { id, source } of items) {
    for (const [language, raw] of Object.entries(sourceOf(sourceOf(source)['locales']))) {
      const own = found.get(language) ?? {};
      own[id] = raw;
      found.set(language, own);
    }
  }
  return found;
}

function rawAmmunition(ammo: StoredRecords['ammunition']): Raw {
  const { name, shortName, caliber, weight, stackMaxSize, tracer, tracerColor, ammoType } = ammo;
  const { penetration, fragmentation, ...ballistics } = ammo.ballistics;
  const numbers = {
    ...ballistics,
    penetrationPower: penetration,
    fragmentationChance: fragmentation,
  };
  const members = { name, shortName, caliber, weight, stackMaxSize, tracer, tracerColor, ammoType };
  const raw = rawOf(ammo.source);
  if (Object.keys(raw).length === 0) {
    return { id: ammo.id, ...members, projectileCount: ammo.projectileCount, ballistics: numbers };
  }
  update(raw, { name, shortName, tracerColor }, isSameText);
  update(raw, { weight, stackMaxSize });
  if (isObject(raw['ballistics'])) {
    update(raw['ballistics'], numbers, (a, b) => isSameNumber(a, b) || isClamped(a, b));
  }
  return raw;
}

/** Values out of range were clamped when they were read. */
const isClamped = (raw: unknown, own: unknown): boolean =>
  typeof raw === 'number' &&
  ((own === 0 && raw < 0) || (own === 1 && raw > 1) || (own === 100 && raw > 100));

function rawTrader(trader: StoredRecords['traders'], set: DataSet): Raw {
  const raw = rawOf(trader.source);
  const { description, currency } = trader;
  if (Object.keys(raw).length === 0) {
    return {
      id: set.tables.traders.indexOf(trader.id),
      name: trader.fullName ?? trader.name,
      locale: { en: trader.name },
      wiki: trader.wiki ?? '',
      description,
      currencies: trader.currencies,
      salesCurrency: currency,
      loyalty: trader.loyalty,
    };
  }
  if (isObject(raw['locale']) && raw['locale']['en'] !== undefined)
    update(raw['locale'], { en: trader.name }, isSameText);
  return update(raw, { name: trader.fullName, description }, isSameText);
}

function rawMap(map: StoredRecords['maps'], set: DataSet): Raw {
  const raw = rawOf(map.source);
  if (Object.keys(raw).length === 0) {
    return {
      id: set.tables.maps.indexOf(map.id),
      locale: { en: map.name },
      description: map.description ?? '',
      enemies: map.enemies,
      raidDuration: { day: map.duration / 60, night: (map.durationNight ?? map.duration) / 60 },
    };
  }
  if (isObject(raw['locale']) && raw['locale']['en'] !== undefined)
    update(raw['locale'], { en: map.name }, isSameText);
  return update(raw, { description: map.description }, isSameText);
}

function rawPreset(preset: StoredRecords['item-presets']): Raw {
  const raw = rawOf(preset.source);
  const { id, name, appendName, baseId, parts } = preset;
  if (Object.keys(raw).length === 0) {
    return { id, name, appendName: appendName ?? '', default: preset.default, baseId, parts };
  }
  return update(raw, { name, appendName }, isSameText);
}

function rawQuest(quest: StoredRecords['quests'], set: DataSet): Raw {
  const raw = rawOf(quest.source);
  const { title, wiki, reward, conditions } = quest;
  if (Object.keys(raw).length === 0) {
    const traders = set.tables.traders;
    return {
      id: quest.id,
      require: { level: conditions.level, quests: conditions.quests },
      giver: traders.indexOf(quest.giverId),
      turnin: traders.indexOf(quest.turnInId),
      title,
      locales: { en: title },
      wiki: wiki ?? '',
      exp: reward.experience,
      unlocks: reward.unlocks.map(({ itemId }) => itemId),
      reputation: reward.reputations.map(({ traderId, value }) => ({
        trader: traders.indexOf(traderId),
        rep: value,
      })),
      objectives: conditions.objectives.map((objective) => ({
        id: objective.id,
        type: objective.type,
        target: objective.itemIds.length > 0 ? objective.itemIds : objective.target,
        number: objective.count,
        location: set.tables.maps.indexOf(objective.mapIds[0] ?? ''),
      })),
    };
  }
  update(raw, { title }, isSameText);
  update(raw, { exp: reward.experience }, isSameNumber);
  if (isObject(raw['require'])) update(raw['require'], { level: conditions.level }, isSameNumber);
  return raw;
}

function hideoutFile(set: DataSet): Raw {
  const records = all(set, 'hideout');
  const modules: { readonly position: number; readonly raw: unknown }[] = [];
  const stations: Raw[] = [];
  let rest: Raw = {};
  for (const record of records) {
    const source = sourceOf(record.source);
    if (isObject(source['station'])) {
      const station = structuredClone(source['station']);
      if (isObject(station['locales'])) update(station['locales'], { en: record.name }, isSameText);
      stations.push(station);
      for (const module of Array.isArray(source['modules']) ? source['modules'] : [])
        modules.push(module);
      if (isObject(source['rest'])) rest = source['rest'];
      continue;
    }
    stations.push({
      id: record.id,
      locales: { en: record.name },
      function: record.description ?? '',
    });
    for (const { level, items, modules: needed } of record.levels) {
      const require = [
        ...items.map((item) => ({ type: 'item', name: item.id, quantity: item.count })),
        ...needed.map((module) => ({
          type: 'module',
          name: set.nameOf('hideout', module.id),
          quantity: module.level,
        })),
      ];
      const raw = { module: record.name, stationId: record.id, level, require };
      modules.push({ position: Number.MAX_SAFE_INTEGER, raw });
    }
  }
  const sorted = [...modules].sort((a, b) => a.position - b.position);
  return { ...rest, stations, modules: sorted.map(({ raw }) => raw) };
}

function levelsFile(set: DataSet): Raw {
  const records = all(set, 'levels').sort((a, b) => a.level - b.level);
  let before = 0;
  return Object.fromEntries(
    records.map((record) => {
      const exp = record.exp - before;
      before = record.exp;
      const raw = rawOf(record.source);
      const isNew = Object.keys(raw).length === 0;
      return [record.id, isNew ? { exp, group: record.group } : update(raw, { exp }, isSameNumber)];
    }),
  );
}

function storylineFile(set: DataSet): Raw {
  let rest: Raw = {};
  const chapters = all(set, 'storyline').map((record): [string, Raw] => {
    const source = sourceOf(record.source);
    if (isObject(source['rest'])) rest = source['rest'];
    const raw = rawOf(record.source);
    if (Object.keys(raw).length === 0) {
      return [
        record.name,
        {
          id: record.id,
          name: record.name,
          description: record.description,
          objectives: record.objectives,
        },
      ];
    }
    if (raw['name'] !== undefined) update(raw, { name: record.name }, isSameText);
    return [
      String(source['key'] ?? record.name),
      update(raw, { description: record.description }, isSameText),
    ];
  });
  return { ...rest, chapters: Object.fromEntries(chapters) };
}
