import { isObject } from '@plinth/kernel';
import { AMMO_TYPES } from '../../../model/schemas/stored.js';
import {
  ID,
  nullableNumber,
  numberOf,
  type Raw,
  type Reading,
  textOf,
  textsOf,
} from './reading.js';

export const LANGUAGE_FILE = /^items\.([a-z]{2,3}(?:-[A-Za-z0-9]{2,8})?)\.json$/;

export function readItems(reading: Reading): void {
  const ammunition = new Set(Object.keys(Object(reading.files.get('ammunition.json') ?? {})));
  const bases = new Set(reading.object('item_presets.json').map(([, raw]) => raw['baseId']));
  const keys = keyItems(reading);
  const translated = new Map<string, Map<string, Raw>>();
  for (const file of reading.files.keys()) {
    const language = LANGUAGE_FILE.exec(file)?.[1];
    if (language === undefined || language === 'en') continue;
    reading.languages.add(language);
    translated.set(language, new Map(itemsOf(reading, file).map(([id, raw]) => [id, raw])));
  }
  const namesakes = new Map<string, number>();
  for (const [id, raw, layout] of itemsOf(reading, 'items.en.json')) {
    const name = textOf(raw['name']) || id;
    namesakes.set(name, (namesakes.get(name) ?? 0) + 1);
    reading.itemNames.set(id, name);
    const locales: Record<string, Raw> = {};
    const sources: Record<string, Raw> = {};
    for (const [language, items] of translated) {
      const own = items.get(id);
      if (own === undefined) continue;
      sources[language] = own;
      locales[language] = textsOf({ name: own['name'], shortName: own['shortName'] });
    }
    const category = ammunition.has(id)
      ? 'ammo'
      : bases.has(id)
        ? 'weapon'
        : keys.has(id)
          ? 'key'
          : 'unknown';
    reading.add('items', 'items.en.json', `/${id}`, {
      id,
      name: reading.cut('items.en.json', id, name, 200),
      shortName: reading.cut('items.en.json', id, textOf(raw['shortName']), 64) || null,
      category,
      locales,
      source: { layout, raw, ...(Object.keys(sources).length > 0 && { locales: sources }) },
    });
  }
  for (const [name, count] of namesakes) {
    if (count === 1) continue;
    reading.warn('shared_name', 'items.en.json', '', `${count} items are named ${name}`);
  }
}

/** Accepts both layouts: by id, or `{data:{items:[...]}}`. */
function itemsOf(
  reading: Reading,
  file: string,
): readonly (readonly [string, Raw, 'by-id' | 'list'])[] {
  const value = reading.files.get(file);
  const data = isObject(value) ? value['data'] : undefined;
  if (isObject(data) && Array.isArray(data['items'])) {
    return reading.list(file, '/data/items', data['items']).flatMap((raw, index) => {
      const id = raw['id'];
      if (typeof id !== 'string' || !ID.test(id)) {
        reading.warn('invalid_id', file, `/data/items/${index}`, 'dropped: no valid id');
        return [];
      }
      return [[id, raw, 'list'] as const];
    });
  }
  return reading.object(file).map(([id, raw]) => [id, raw, 'by-id'] as const);
}

function keyItems(reading: Reading): ReadonlySet<string> {
  const quests = reading.files.get('quests.json');
  if (!Array.isArray(quests)) return new Set();
  const objectives = quests.flatMap((quest: unknown) => Object(quest).objectives ?? []) as Raw[];
  return new Set(
    objectives
      .filter((objective) => isObject(objective) && objective['type'] === 'key')
      .flatMap((objective) => [objective['target']].flat())
      .filter((target): target is string => typeof target === 'string'),
  );
}

export function readAmmunition(reading: Reading): void {
  const file = 'ammunition.json';
  for (const [id, raw] of reading.object(file)) {
    const path = `/${id}`;
    const isItem = reading.itemNames.has(id);
    if (!isItem) reading.warn('ammo_without_item', file, path, `unknown item ${id}`);
    const b = isObject(raw['ballistics']) ? raw['ballistics'] : {};
    const bound = (name: string, low: number, high: number): number => {
      const value = numberOf(b[name]);
      const clamped = Math.min(high, Math.max(low, value));
      if (clamped !== value)
        reading.warn(
          'out_of_range',
          file,
          `${path}/ballistics/${name}`,
          `${value} was changed to ${clamped}`,
        );
      return clamped;
    };
    for (const member of ['weight', 'stackMaxSize']) {
      if (raw[member] !== undefined) continue;
      reading.warn('missing_value', file, `${path}/${member}`, 'missing; treated as unknown');
    }
    const name = textOf(raw['name']) || id;
    const type = AMMO_TYPES.find((known) => known === raw['ammoType']) ?? 'other';
    const caliber = textOf(raw['caliber']);
    const isCaliber = /^Caliber[A-Za-z0-9]+$/.test(caliber);
    if (!isCaliber)
      reading.warn('invalid_caliber', file, `${path}/caliber`, `${caliber} is not a valid caliber`);
    reading.add('ammunition', file, path, {
      id,
      itemId: isItem ? id : null,
      name: reading.cut(file, id, name, 200),
      shortName: reading.cut(file, id, textOf(raw['shortName']) || name, 64),
      caliber: isCaliber ? caliber : `Caliber${caliber.replace(/[^A-Za-z0-9]/g, '') || 'Unknown'}`,
      weight: nullableNumber(raw['weight']),
      stackMaxSize: nullableNumber(raw['stackMaxSize']),
      tracer: raw['tracer'] === true,
      tracerColor: textOf(raw['tracerColor']) || null,
      ammoType: type,
      projectileCount: Math.max(1, Math.trunc(numberOf(raw['projectileCount']) || 1)),
      ballistics: {
        damage: bound('damage', 0, 1e9),
        penetration: bound('penetrationPower', 0, 100),
        armorDamage: numberOf(b['armorDamage']),
        fragmentation: bound('fragmentationChance', 0, 1),
        ricochetChance: bound('ricochetChance', 0, 1),
        penetrationChance:
          b['penetrationChance'] === undefined ? null : bound('penetrationChance', 0, 1),
        accuracy: numberOf(b['accuracy']),
        recoil: numberOf(b['recoil']),
        initialSpeed: bound('initialSpeed', 0, 1e9),
      },
      source: { raw },
    });
  }
}
