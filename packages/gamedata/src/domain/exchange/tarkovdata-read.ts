import { ValidationFailed } from '../../errors.js';
import { isObject } from '../../model/json.js';
import type { Kind } from '../../model/kinds.js';
import { normalText, slugOf } from '../../model/normal-text.js';
import { ID_PATTERN, OBJECTIVE_TYPES } from '../../model/schemas/base.js';
import { AMMO_TYPES } from '../../model/schemas/stored.js';
import type { ImportWarning, IncomingRecord, Payload } from './payload.js';

type Raw = Record<string, unknown>;
type Files = ReadonlyMap<string, unknown>;

const ID = new RegExp(ID_PATTERN);
const LANGUAGE_FILE = /^items\.([a-z]{2,3}(?:-[A-Za-z0-9]{2,8})?)\.json$/;

/**
 * The community's files as records. Every record keeps its raw form in `source`, so that writing gives the same files
 * again. Source: gamedata, sections 1.6 and 8.3.
 */
export function readTarkovData(files: Files): Payload {
  return new Reader(files).read();
}

class Reader {
  readonly #files: Files;
  readonly #records: IncomingRecord[] = [];
  readonly #warnings: ImportWarning[] = [];
  readonly #languages = new Set(['en']);
  readonly #itemNames = new Map<string, string>();
  /** Ids of traders and maps by the numbers that quests use. */
  readonly #traders = new Map<number, string>();
  readonly #traderNames = new Map<string, string>();
  readonly #maps = new Map<number, string>();
  readonly #mapNames = new Map<string, string>();

  constructor(files: Files) {
    this.#files = files;
  }

  read(): Payload {
    const known = new Set(this.#fileNames());
    for (const name of this.#files.keys()) {
      if (!known.has(name)) this.#warn('unknown_file', name, '', 'the file is not read');
    }
    this.#readItems();
    this.#readAmmunition();
    this.#readTraders();
    this.#readMaps();
    this.#readLevels();
    this.#readHideout();
    this.#readPresets();
    this.#readQuests();
    this.#readStoryline();
    return {
      defaultLanguage: 'en',
      languages: [...this.#languages],
      aliases: {},
      records: this.#records,
      warnings: this.#warnings,
    };
  }

  #fileNames(): readonly string[] {
    const own = [
      'ammunition',
      'traders',
      'maps',
      'quests',
      'hideout',
      'item_presets',
      'levels',
      'storyline',
    ];
    const items = [...this.#files.keys()].filter((name) => LANGUAGE_FILE.test(name));
    return [...own.map((name) => `${name}.json`), ...items];
  }

  #warn(code: string, file: string, path: string, message: string): void {
    this.#warnings.push({ code, file, path, message });
  }

  #wrong(file: string, path: string, message: string): ValidationFailed {
    return new ValidationFailed(`${file}: ${message}`, [
      { file, path, code: 'wrong_shape', message },
    ]);
  }

  #add(kind: Kind, file: string, path: string, body: Raw): void {
    this.#records.push({ kind, file, path, body });
  }

  /** An object by key, or nothing when the file is not there. */
  #object(file: string): readonly (readonly [string, Raw])[] {
    const value = this.#files.get(file);
    if (value === undefined) return [];
    if (!isObject(value)) throw this.#wrong(file, '', 'an object is expected');
    return Object.entries(value as Raw).map(([key, raw]) => {
      if (!isObject(raw)) throw this.#wrong(file, `/${key}`, 'an object is expected');
      return [key, raw as Raw];
    });
  }

  #list(file: string, path: string, value: unknown): readonly Raw[] {
    if (!Array.isArray(value) || !value.every(isObject)) {
      throw this.#wrong(file, path, 'an array of objects is expected');
    }
    return value as Raw[];
  }

  #readItems(): void {
    const ammunition = new Set(Object.keys(Object(this.#files.get('ammunition.json') ?? {})));
    const bases = new Set(this.#object('item_presets.json').map(([, raw]) => raw['baseId']));
    const keys = this.#keyItems();
    const translated = new Map<string, Map<string, Raw>>();
    for (const file of this.#files.keys()) {
      const language = LANGUAGE_FILE.exec(file)?.[1];
      if (language === undefined || language === 'en') continue;
      this.#languages.add(language);
      translated.set(language, new Map(this.#itemsOf(file).map(([id, raw]) => [id, raw])));
    }
    for (const [id, raw, layout] of this.#itemsOf('items.en.json')) {
      const name = textOf(raw['name']) || id;
      this.#itemNames.set(id, name);
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
      this.#add('items', 'items.en.json', `/${id}`, {
        id,
        name: this.#cut('items.en.json', id, name, 200),
        shortName: this.#cut('items.en.json', id, textOf(raw['shortName']), 64) || null,
        category,
        locales,
        source: { layout, raw, ...(Object.keys(sources).length > 0 && { locales: sources }) },
      });
    }
  }

  /** Both layouts: by id, or `{data:{items:[...]}}`. */
  #itemsOf(file: string): readonly (readonly [string, Raw, 'by-id' | 'list'])[] {
    const value = this.#files.get(file);
    const data = isObject(value) ? value['data'] : undefined;
    if (isObject(data) && Array.isArray(data['items'])) {
      return this.#list(file, '/data/items', data['items']).flatMap((raw, index) => {
        const id = raw['id'];
        if (typeof id !== 'string' || !ID.test(id)) {
          this.#warn('invalid_id', file, `/data/items/${index}`, 'left out: it has no usable id');
          return [];
        }
        return [[id, raw, 'list'] as const];
      });
    }
    return this.#object(file).map(([id, raw]) => [id, raw, 'by-id'] as const);
  }

  #keyItems(): ReadonlySet<string> {
    const quests = this.#files.get('quests.json');
    if (!Array.isArray(quests)) return new Set();
    const objectives = quests.flatMap((quest: unknown) => Object(quest).objectives ?? []) as Raw[];
    return new Set(
      objectives
        .filter((objective) => isObject(objective) && objective['type'] === 'key')
        .flatMap((objective) => [objective['target']].flat())
        .filter((target): target is string => typeof target === 'string'),
    );
  }

  #cut(file: string, id: string, text: string, length: number): string {
    if (text.length <= length) return text;
    this.#warn('too_long', file, `/${id}`, `cut to ${length} characters`);
    return text.slice(0, length);
  }

  #readAmmunition(): void {
    const file = 'ammunition.json';
    for (const [id, raw] of this.#object(file)) {
      const path = `/${id}`;
      const isItem = this.#itemNames.has(id);
      if (!isItem) this.#warn('ammo_without_item', file, path, `there is no item ${id}`);
      const b = isObject(raw['ballistics']) ? raw['ballistics'] : {};
      const bound = (name: string, low: number, high: number): number => {
        const value = numberOf(b[name]);
        const kept = Math.min(high, Math.max(low, value));
        if (kept !== value)
          this.#warn('out_of_range', file, `${path}/ballistics/${name}`, `${value} became ${kept}`);
        return kept;
      };
      const name = textOf(raw['name']) || id;
      const type = AMMO_TYPES.find((known) => known === raw['ammoType']) ?? 'other';
      const caliber = textOf(raw['caliber']);
      const isCaliber = /^Caliber[A-Za-z0-9]+$/.test(caliber);
      if (!isCaliber)
        this.#warn('invalid_caliber', file, `${path}/caliber`, `${caliber} is no caliber`);
      this.#add('ammunition', file, path, {
        id,
        itemId: isItem ? id : null,
        name: this.#cut(file, id, name, 200),
        shortName: this.#cut(file, id, textOf(raw['shortName']) || name, 64),
        caliber: isCaliber
          ? caliber
          : `Caliber${caliber.replace(/[^A-Za-z0-9]/g, '') || 'Unknown'}`,
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

  #readTraders(): void {
    const file = 'traders.json';
    const taken = new Set<string>();
    for (const [key, raw] of this.#object(file)) {
      const number = numberOf(raw['id']);
      let id = String(raw['id'] ?? key);
      if (taken.has(id)) {
        this.#warn('duplicate_id', file, `/${key}/id`, `id ${id} is taken; ${key} stands for it`);
        id = key;
      } else this.#traders.set(number, id);
      taken.add(id);
      const name = this.#localName(raw['locale'], key);
      this.#traderNames.set(normalText(name), id);
      const currency = textOf(raw['salesCurrency']) || 'RUB';
      this.#add('traders', file, `/${key}`, {
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
        locales: this.#locales(raw['locale'], 'name'),
        source: { key, raw },
      });
    }
  }

  #localName(locale: unknown, fallback: string): string {
    return isObject(locale) ? textOf(locale['en']) || fallback : fallback;
  }

  #locales(locale: unknown, field: string): Record<string, Raw> {
    const found: Record<string, Raw> = {};
    for (const [language, text] of Object.entries(isObject(locale) ? locale : {})) {
      const isLanguage = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$/.test(language);
      if (language === 'en' || !isLanguage || typeof text !== 'string' || text === '') continue;
      this.#languages.add(language);
      found[language] = { [field]: text };
    }
    return found;
  }

  #readMaps(): void {
    const file = 'maps.json';
    for (const [key, raw] of this.#object(file)) {
      const id = ID.test(key) ? key : slugOf(key);
      const slug = slugOf(key);
      if (slug !== key) this.#warn('changed_slug', file, `/${key}`, `the map is at ${slug}`);
      if (typeof raw['id'] === 'number') this.#maps.set(raw['id'], id);
      const name = this.#localName(raw['locale'], key);
      this.#mapNames.set(normalText(name), id);
      const duration = isObject(raw['raidDuration']) ? raw['raidDuration'] : {};
      const svg = isObject(raw['svg']) ? raw['svg'] : {};
      this.#add('maps', file, `/${key}`, {
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
        locales: this.#locales(raw['locale'], 'name'),
        source: { key, raw },
      });
    }
  }

  #readLevels(): void {
    const file = 'levels.json';
    const entries = [...this.#object(file)].sort(([a], [b]) => Number(a) - Number(b));
    let total = 0;
    for (const [index, [key, raw]] of entries.entries()) {
      if (!/^[1-9]\d{0,5}$/.test(key))
        throw this.#wrong(file, `/${key}`, 'the key must be a level');
      total += numberOf(raw['exp']);
      const group = raw['group'];
      this.#add('levels', file, `/${key}`, {
        id: key,
        level: Number(key),
        exp: total,
        expToNextLevel: numberOf(entries[index + 1]?.[1]['exp']),
        group: typeof group === 'number' || typeof group === 'string' ? group : null,
        source: { raw },
      });
    }
  }

  #readHideout(): void {
    const file = 'hideout.json';
    const value = this.#files.get(file);
    if (value === undefined) return;
    if (!isObject(value)) throw this.#wrong(file, '', 'an object is expected');
    const { stations: rawStations, modules: rawModules, ...rest } = value;
    const stations = this.#list(file, '/stations', rawStations);
    const modules = this.#list(file, '/modules', rawModules);
    const byName = new Map(
      stations.map((station) => [
        normalText(this.#localName(station['locales'], '')),
        String(station['id']),
      ]),
    );
    for (const [index, station] of stations.entries()) {
      const own = modules
        .map((raw, position) => ({ raw, position }))
        .filter(({ raw }) => raw['stationId'] === station['id']);
      const sorted = [...own].sort((a, b) => numberOf(a.raw['level']) - numberOf(b.raw['level']));
      const levels = sorted.map(({ raw, position }) =>
        this.#moduleLevel(raw, { byName, path: `/modules/${position}` }),
      );
      this.#add('hideout', file, `/stations/${index}`, {
        id: String(station['id']),
        name: this.#localName(station['locales'], String(station['id'])),
        description: textOf(station['function']) || null,
        disabled: station['disabled'] === true,
        image: linkOf(station['imgSource']),
        levels,
        locales: this.#locales(station['locales'], 'name'),
        source: {
          station,
          modules: own,
          ...(index === 0 && Object.keys(rest).length > 0 && { rest }),
        },
      });
    }
  }

  #moduleLevel(
    raw: Raw,
    at: { readonly byName: ReadonlyMap<string, string>; readonly path: string },
  ): Raw {
    const file = 'hideout.json';
    const items: Raw[] = [];
    const modules: Raw[] = [];
    const traders: Raw[] = [];
    const skills: Raw[] = [];
    const requirements = Array.isArray(raw['require']) ? raw['require'] : [];
    for (const [index, requirement] of requirements.entries()) {
      const { type, name, quantity } = Object(requirement) as Raw;
      const path = `${at.path}/require/${index}`;
      const count = Math.max(1, Math.trunc(numberOf(quantity)));
      if (type === 'item') {
        if (this.#itemNames.has(String(name))) items.push({ id: name, count, foundInRaid: false });
        else this.#warn('dangling_reference', file, path, `there is no item ${String(name)}`);
      } else if (type === 'module') {
        const id = at.byName.get(normalText(String(name)));
        if (id === undefined)
          this.#warn('dangling_reference', file, path, `there is no module ${String(name)}`);
        else modules.push({ id, level: count });
      } else if (type === 'trader') {
        const id =
          this.#traders.get(numberOf(name)) ?? this.#traderNames.get(normalText(String(name)));
        if (id === undefined)
          this.#warn('dangling_reference', file, path, `there is no trader ${String(name)}`);
        else traders.push({ id, level: count });
      } else if (type === 'skill') skills.push({ name: String(name), level: count });
      else this.#warn('unknown_requirement', file, path, `type ${String(type)} is not known`);
    }
    return { level: numberOf(raw['level']), items, modules, traders, skills };
  }

  #readPresets(): void {
    const file = 'item_presets.json';
    for (const [id, raw] of this.#object(file)) {
      const parts = Array.isArray(raw['parts']) ? (raw['parts'] as Raw[]) : [];
      const kept = parts.map((part) => ({
        id: String(Object(part).id),
        quantity: Math.max(1, Math.trunc(numberOf(Object(part).quantity) || 1)),
      }));
      this.#add('item-presets', file, `/${id}`, {
        id,
        name: textOf(raw['name']) || id,
        appendName: textOf(raw['appendName']) || null,
        default: raw['default'] === true,
        baseId: String(raw['baseId']),
        mods: kept.slice(1).map((part) => ({ slot: 'part', item: part.id })),
        parts: kept,
        source: { raw },
      });
    }
  }

  #readQuests(): void {
    const file = 'quests.json';
    const value = this.#files.get(file);
    if (value === undefined) return;
    const quests = this.#list(file, '', value);
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
        this.#warn('duplicate_id', file, `${path}/id`, `quest ${id} is there twice`);
        id = `${id}-${index}`;
      }
      taken.add(id);
      const gameId = textOf(raw['gameId']) || null;
      if (gameId !== null && (gameIds.get(gameId) ?? 0) > 1) {
        this.#warn('shared_game_id', file, `${path}/gameId`, `${gameId} belongs to several quests`);
      }
      this.#add('quests', file, path, this.#quest(raw, { id, gameId, path, objectiveIds }));
    }
  }

  #quest(
    raw: Raw,
    at: {
      readonly id: string;
      readonly gameId: string | null;
      readonly path: string;
      readonly objectiveIds: Set<string>;
    },
  ): Raw {
    const file = 'quests.json';
    const { id, gameId, path } = at;
    const require = isObject(raw['require']) ? raw['require'] : {};
    if (require['level'] === null || require['level'] === undefined) {
      this.#warn('missing_level', file, `${path}/require/level`, 'taken for 0');
    }
    const rawObjectives = Array.isArray(raw['objectives']) ? (raw['objectives'] as Raw[]) : [];
    if (rawObjectives.length === 0)
      this.#warn('no_objectives', file, path, 'the quest has no objectives');
    const objectives = rawObjectives.map((objective, index) =>
      this.#objective(Object(objective), { ...at, path: `${path}/objectives/${index}` }),
    );
    const title = textOf(raw['title']) || id;
    const giverId = this.#traderOf(raw['giver'], `${path}/giver`);
    const single = new Set(objectives.map(({ mapIds }) => JSON.stringify(mapIds)));
    const [first] = objectives;
    const location =
      first !== undefined && single.size === 1 ? (first['mapIds'] as string[])[0] : undefined;
    const groups = Array.isArray(require['quests']) ? require['quests'] : [];
    const loyalty = Array.isArray(require['loyalty']) ? (require['loyalty'] as Raw[]) : [];
    const shares = (list: unknown, where: string): Raw[] =>
      (Array.isArray(list) ? (list as Raw[]) : []).flatMap((entry, index) => {
        const traderId = this.#traderOf(Object(entry).trader, `${path}/${where}/${index}`);
        return traderId === undefined ? [] : [{ traderId, value: numberOf(Object(entry).rep) }];
      });
    return {
      id,
      gameId,
      title: this.#cut(file, id, title, 200),
      giverId: giverId ?? String(raw['giver']),
      turnInId:
        this.#traderOf(raw['turnin'] ?? raw['giver'], `${path}/turnin`) ??
        giverId ??
        String(raw['giver']),
      wiki: linkOf(raw['wiki']),
      conditions: {
        location: location === undefined ? 'any' : slugOf(location),
        level: Math.max(0, Math.trunc(numberOf(require['level']))),
        quests: groups.map((group: unknown) => [group].flat().map(String)),
        loyalty: loyalty.flatMap((entry, index) => {
          const traderId = this.#traderOf(entry['trader'], `${path}/require/loyalty/${index}`);
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
            this.#warn('invalid_id', file, `${path}/unlocks/${index}`, 'left out: no usable id');
            return [];
          },
        ),
      },
      failure: { reputations: shares(raw['reputationFailure'], 'reputationFailure') },
      alternatives: (Array.isArray(raw['alternatives']) ? raw['alternatives'] : []).map(String),
      flags: { deprecated: raw['deprecated'] === true },
      extra: { ...(raw['nokappa'] !== undefined && { nokappa: raw['nokappa'] }) },
      locales: this.#locales(raw['locales'], 'title'),
      source: { raw },
    };
  }

  #traderOf(number: unknown, path: string): string | undefined {
    const id = this.#traders.get(numberOf(number));
    if (id === undefined)
      this.#warn('dangling_reference', 'quests.json', path, `there is no trader ${String(number)}`);
    return id;
  }

  #objective(
    raw: Raw,
    at: { readonly id: string; readonly path: string; readonly objectiveIds: Set<string> },
  ): Raw {
    const file = 'quests.json';
    let id = String(raw['id'] ?? '');
    if (id === '' || at.objectiveIds.has(id)) {
      this.#warn(
        'duplicate_objective_id',
        file,
        `${at.path}/id`,
        `objective ${id} is there already`,
      );
      id = `${at.id}-${id || 'x'}`;
      for (let n = 2; at.objectiveIds.has(id); n++)
        id = `${at.id}-${String(raw['id'] ?? 'x')}-${n}`;
    }
    at.objectiveIds.add(id);
    const type = OBJECTIVE_TYPES.find((known) => known === raw['type']) ?? 'other';
    const targets = [raw['target']].flat();
    const itemIds = targets.filter((target): target is string =>
      this.#itemNames.has(String(target)),
    );
    const names = targets.map(
      (target) => this.#itemNames.get(String(target)) ?? String(target ?? ''),
    );
    const { location, gps } = raw;
    if (location === undefined && type !== 'build') {
      this.#warn('missing_location', file, at.path, 'taken for any map');
    }
    const mapId =
      typeof location === 'number' && location >= 0 ? this.#maps.get(location) : undefined;
    if (typeof location === 'number' && location >= 0 && mapId === undefined) {
      this.#warn('dangling_reference', file, `${at.path}/location`, `there is no map ${location}`);
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
        traderId: this.#traders.get(numberOf(raw['target'])) ?? null,
        level: number,
      }),
      ...(type === 'skill' && { skill: String(raw['target']), level: number }),
      toolId: tool !== null && this.#itemNames.has(tool) ? tool : null,
      hint: textOf(raw['hint']) || null,
      with: (Array.isArray(raw['with']) ? raw['with'] : []).map((extra: unknown) =>
        this.#extra(extra),
      ),
      position: isPlace
        ? { x: gps['leftPercent'], y: gps['topPercent'], floor: textOf(gps['floor']) || null }
        : null,
    };
  }

  #extra(extra: unknown): Raw {
    if (!isObject(extra)) return { type: 'text', name: String(extra).slice(0, 200) };
    const { type, name, value, id } = extra;
    const ids = [id].flat().filter((one): one is string => this.#itemNames.has(String(one)));
    return {
      type: textOf(type).slice(0, 64) || 'text',
      name: name === undefined ? null : String(name).slice(0, 200),
      value:
        typeof value === 'number'
          ? value
          : value === undefined
            ? null
            : String(value).slice(0, 200),
      itemIds: ids,
    };
  }

  #readStoryline(): void {
    const file = 'storyline.json';
    const value = this.#files.get(file);
    if (value === undefined) return;
    if (!isObject(value) || !isObject(value['chapters'])) {
      throw this.#wrong(file, '/chapters', 'an object with chapters is expected');
    }
    const { chapters, ...rest } = value;
    for (const [index, [key, raw]] of Object.entries(chapters as Raw).entries()) {
      const path = `/chapters/${key}`;
      if (!isObject(raw)) throw this.#wrong(file, path, 'an object is expected');
      const id = String(raw['id'] ?? slugOf(key));
      const seen = new Set<string>();
      const objective = (isOptional: boolean) => (entry: unknown, at: number) => {
        const own: Raw = isObject(entry) ? { ...entry } : { description: String(entry) };
        let objectiveId = String(own['id'] ?? `${isOptional ? 'optional' : 'main'}-${at + 1}`);
        if (!ID.test(objectiveId) || seen.has(objectiveId)) {
          objectiveId = `${isOptional ? 'optional' : 'main'}-${at + 1}`;
        }
        seen.add(objectiveId);
        const { description } = own;
        return {
          ...own,
          id: objectiveId,
          type: textOf(own['type']).slice(0, 64) || 'other',
          description: typeof description === 'string' ? description : null,
          optional: isOptional,
        };
      };
      const lists = [raw['objectives'], raw['optionalObjectives']].map((list) =>
        Array.isArray(list) ? list : [],
      );
      const [main = [], optional = []] = lists;
      this.#add('storyline', file, path, {
        id: ID.test(id) ? id : slugOf(key),
        order: index + 1,
        name: textOf(raw['name']) || key,
        description: textOf(raw['description']),
        details: textOf(raw['note']) || null,
        mapIds: this.#namedIn(main, this.#mapNames),
        relatedCharacters: this.#namedIn(main, this.#traderNames).map((traderId) => ({
          id: traderId,
        })),
        objectives: [...main.map(objective(false)), ...optional.map(objective(true))],
        rewards: (Array.isArray(raw['rewards']) ? raw['rewards'] : []).map((reward: unknown) =>
          isObject(reward)
            ? { ...reward, type: textOf(reward['type']).slice(0, 64) || 'other' }
            : { type: 'text', text: String(reward) },
        ),
        branches: isObject(raw['branches']) ? raw['branches'] : {},
        extra: {
          ...(raw['requirements'] !== undefined && { requirements: raw['requirements'] }),
          ...(linkOf(raw['wiki']) !== null && { wiki: raw['wiki'] }),
        },
        source: { key, raw, ...(index === 0 && { rest }) },
      });
    }
  }

  /** Ids of traders or maps whose whole name stands in a member of the objectives. */
  #namedIn(objectives: readonly unknown[], names: ReadonlyMap<string, string>): string[] {
    const found = objectives.flatMap((objective) =>
      Object.values(Object(objective) as Raw).flatMap((member) => {
        const id = typeof member === 'string' ? names.get(normalText(member)) : undefined;
        return id === undefined ? [] : [id];
      }),
    );
    return [...new Set(found)];
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : 0;
const nullableNumber = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 ? value : null;
const isPercent = (value: unknown): boolean =>
  typeof value === 'number' && value >= 0 && value <= 100;

function textsOf(texts: Raw): Raw {
  return Object.fromEntries(
    Object.entries(texts).filter(([, text]) => typeof text === 'string' && text !== ''),
  );
}

/** A link that may be served, or none. */
function linkOf(value: unknown): string | null {
  const text = textOf(value);
  if (/^https:\/\/[^\s"<>]{1,2000}$/.test(text)) return text;
  return /^\/?[A-Za-z0-9._~-][A-Za-z0-9._~%/-]{0,2000}$/.test(text) ? text : null;
}
