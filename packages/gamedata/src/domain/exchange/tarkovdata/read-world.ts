import { isObject } from '@plinth/kernel';
import { normalText, slugOf } from '../../../model/normal-text.js';
import { ID, linkOf, numberOf, type Raw, type Reading, textOf } from './reading.js';

export function readTraders(reading: Reading): void {
  const file = 'traders.json';
  const taken = new Set<string>();
  for (const [key, raw] of reading.object(file)) {
    const number = numberOf(raw['id']);
    let id = String(raw['id'] ?? key);
    if (taken.has(id)) {
      reading.warn(
        'duplicate_id',
        file,
        `/${key}/id`,
        `duplicate id ${id}; ${key} is used instead`,
      );
      id = key;
    } else reading.traders.set(number, id);
    taken.add(id);
    const name = reading.localName(raw['locale'], key);
    reading.traderNames.set(normalText(name), id);
    const currency = textOf(raw['salesCurrency']) || 'RUB';
    reading.add('traders', file, `/${key}`, {
      id,
      slug: slugOf(key) || undefined,
      name,
      fullName: textOf(raw['name']) || null,
      description: textOf(raw['description']),
      wiki: linkOf(raw['wiki']),
      currency,
      currencies: Array.isArray(raw['currencies']) ? raw['currencies'].map(String) : [currency],
      loyalty: Array.isArray(raw['loyalty'])
        ? raw['loyalty'].map((entry: unknown) => {
            const { level, requiredLevel, requiredReputation, requiredSales } = Object(
              entry,
            ) as Raw;
            return {
              level: numberOf(level) || 1,
              requiredLevel: numberOf(requiredLevel),
              requiredReputation: numberOf(requiredReputation),
              requiredSales: numberOf(requiredSales),
            };
          })
        : [],
      locales: reading.locales(raw['locale'], 'name'),
      source: { key, raw },
    });
  }
}

export function readMaps(reading: Reading): void {
  const file = 'maps.json';
  for (const [key, raw] of reading.object(file)) {
    const id = ID.test(key) ? key : slugOf(key);
    const slug = slugOf(key);
    if (slug !== key)
      reading.warn('changed_slug', file, `/${key}`, `the slug of the map was changed to ${slug}`);
    if (typeof raw['id'] === 'number') reading.maps.set(raw['id'], id);
    const name = reading.localName(raw['locale'], key);
    reading.mapNames.set(normalText(name), id);
    const duration = isObject(raw['raidDuration']) ? raw['raidDuration'] : {};
    const svg = isObject(raw['svg']) ? raw['svg'] : {};
    reading.add('maps', file, `/${key}`, {
      id,
      slug,
      name,
      description: textOf(raw['description']) || null,
      duration: numberOf(duration['day']) * 60,
      durationNight: duration['night'] === undefined ? null : numberOf(duration['night']) * 60,
      wiki: linkOf(raw['wiki']),
      enemies: Array.isArray(raw['enemies']) ? raw['enemies'].map(String) : [],
      floors: Array.isArray(svg['floors']) ? svg['floors'].map(String) : [],
      extra: { numericId: raw['id'] ?? null },
      locales: reading.locales(raw['locale'], 'name'),
      source: { key, raw },
    });
  }
}

export function readLevels(reading: Reading): void {
  const file = 'levels.json';
  const entries = [...reading.object(file)].sort(([a], [b]) => Number(a) - Number(b));
  let total = 0;
  for (const [index, [key, raw]] of entries.entries()) {
    if (!/^[1-9]\d{0,5}$/.test(key))
      throw reading.wrong(file, `/${key}`, 'the key must be a level number from 1 to 999999');
    total += numberOf(raw['exp']);
    const group = raw['group'];
    reading.add('levels', file, `/${key}`, {
      id: key,
      level: Number(key),
      exp: total,
      expToNextLevel: numberOf(entries[index + 1]?.[1]['exp']),
      group: typeof group === 'number' || typeof group === 'string' ? group : null,
      source: { raw },
    });
  }
}

export function readPresets(reading: Reading): void {
  const file = 'item_presets.json';
  for (const [id, raw] of reading.object(file)) {
    const parts = Array.isArray(raw['parts']) ? (raw['parts'] as Raw[]) : [];
    const items = parts.map((part) => ({
      id: String(Object(part).id),
      quantity: Math.max(1, Math.trunc(numberOf(Object(part).quantity) || 1)),
    }));
    reading.add('item-presets', file, `/${id}`, {
      id,
      name: textOf(raw['name']) || id,
      appendName: textOf(raw['appendName']) || null,
      default: raw['default'] === true,
      baseId: String(raw['baseId']),
      mods: items.slice(1).map((part) => ({ slot: 'part', item: part.id })),
      parts: items,
      source: { raw },
    });
  }
}
