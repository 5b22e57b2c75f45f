import { isObject } from '@plinth/kernel';
import { normalText } from '../../../model/normal-text.js';
import { linkOf, numberOf, type Raw, type Reading, textOf } from './reading.js';

export function readHideout(reading: Reading): void {
  const file = 'hideout.json';
  const value = reading.files.get(file);
  if (value === undefined) return;
  if (!isObject(value)) throw reading.wrong(file, '', 'expected an object');
  const { stations: rawStations, modules: rawModules, ...rest } = value;
  const stations = reading.list(file, '/stations', rawStations);
  const modules = reading.list(file, '/modules', rawModules);
  const byName = new Map(
    stations.map((station) => {
      const name = reading.localName(station['locales'], '');
      return [normalText(name), { id: String(station['id']), name }];
    }),
  );
  for (const [index, station] of stations.entries()) {
    const own = modules
      .map((raw, position) => ({ raw, position }))
      .filter(({ raw }) => raw['stationId'] === station['id']);
    const sorted = [...own].sort((a, b) => numberOf(a.raw['level']) - numberOf(b.raw['level']));
    const levels = sorted.map(({ raw, position }) =>
      moduleLevel(reading, raw, { byName, path: `/modules/${position}` }),
    );
    reading.add('hideout', file, `/stations/${index}`, {
      id: String(station['id']),
      name: reading.localName(station['locales'], String(station['id'])),
      description: textOf(station['function']) || null,
      disabled: station['disabled'] === true,
      image: linkOf(station['imgSource']),
      levels,
      locales: reading.locales(station['locales'], 'name'),
      source: {
        station,
        modules: own,
        ...(index === 0 && Object.keys(rest).length > 0 && { rest }),
      },
    });
  }
}

function moduleLevel(
  reading: Reading,
  raw: Raw,
  options: {
    readonly byName: ReadonlyMap<string, { readonly id: string; readonly name: string }>;
    readonly path: string;
  },
): Raw {
  const file = 'hideout.json';
  const items: Raw[] = [];
  const modules: Raw[] = [];
  const traders: Raw[] = [];
  const skills: Raw[] = [];
  const requirements = Array.isArray(raw['require']) ? raw['require'] : [];
  for (const [index, requirement] of requirements.entries()) {
    const { type, name, quantity } = Object(requirement) as Raw;
    const path = `${options.path}/require/${index}`;
    const count = Math.max(1, Math.trunc(numberOf(quantity)));
    if (type === 'item') {
      if (reading.itemNames.has(String(name))) items.push({ id: name, count, foundInRaid: false });
      else reading.warn('dangling_reference', file, path, `unknown item ${String(name)}`);
    } else if (type === 'module') {
      const station = options.byName.get(normalText(String(name)));
      if (station === undefined) {
        reading.warn('dangling_reference', file, path, `unknown module ${String(name)}`);
        continue;
      }
      if (station.name !== name) {
        reading.warn('name_differs', file, path, `${String(name)}: treated as ${station.name}`);
      }
      modules.push({ id: station.id, level: count });
    } else if (type === 'trader') {
      const id =
        reading.traders.get(numberOf(name)) ?? reading.traderNames.get(normalText(String(name)));
      if (id === undefined)
        reading.warn('dangling_reference', file, path, `unknown trader ${String(name)}`);
      else traders.push({ id, level: count });
    } else if (type === 'skill') skills.push({ name: String(name), level: count });
    else reading.warn('unknown_requirement', file, path, `unknown type ${String(type)}`);
  }
  return { level: numberOf(raw['level']), items, modules, traders, skills };
}
