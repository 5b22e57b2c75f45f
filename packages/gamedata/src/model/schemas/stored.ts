import { type Static, Type } from 'typebox';
import {
  Bonus,
  Closed,
  COMMON,
  Count,
  Flag,
  Id,
  Link,
  List,
  Nullable,
  Objective,
  oneOf,
  Ratio,
  TAIL,
  Text,
} from './base.js';

/**
 * Stored records, which only contain members that an editor sets. Members computed from other records
 * are added when a record is served (schemas/served.ts).
 * Source: gamedata, section 3.
 */

export const RARITIES = ['common', 'uncommon', 'rare', 'very rare', 'legendary'] as const;
export const CATEGORIES = [
  'weapon',
  'ammo',
  'magazine',
  'mod',
  'armor',
  'helmet',
  'rig',
  'backpack',
  'medical',
  'food',
  'key',
  'container',
  'barter',
  'currency',
  'unknown',
] as const;
export const AMMO_TYPES = ['bullet', 'buckshot', 'grenade', 'other'] as const;
export const RAID_LEVELS = [
  'Very Easy',
  'Easy',
  'Easy-Medium',
  'Medium',
  'Medium-Hard',
  'Hard',
  'Very Hard',
] as const;
export const IMPORTANCES = ['critical', 'major', 'minor'] as const;

const Caliber = () => Type.String({ pattern: '^Caliber[A-Za-z0-9]+$', maxLength: 64 });
const Amount = () => Type.Number({ minimum: 0 });
const Name = () => Type.String({ minLength: 1, maxLength: 200 });

const ITEM_PROPERTIES = {
  ammo: Closed({ caliber: Caliber(), type: Text(64) }),
  weapon: Closed({
    caliber: Nullable(Caliber()),
    fireRate: Nullable(Amount()),
    ergonomics: Nullable(Type.Number()),
    recoil: Nullable(Type.Number()),
    accuracy: Nullable(Type.Number()),
    fireModes: List(Text(32)),
    defaultAmmoId: Nullable(Id()),
    slots: List(Closed({ name: Text(64), required: Flag(), itemIds: List(Id()) })),
  }),
  armor: Closed({
    class: Type.Integer({ minimum: 1, maximum: 6 }),
    durability: Amount(),
    zones: List(Text(64)),
    material: Nullable(Text(64)),
  }),
  mod: Closed({
    slot: Text(64),
    ergonomics: Type.Number({ default: 0 }),
    recoilPercent: Type.Number({ default: 0 }),
    accuracyPercent: Type.Number({ default: 0 }),
  }),
  magazine: Closed({ caliber: Nullable(Caliber()), capacity: Count(1) }),
  container: Closed({ width: Count(1), height: Count(1), accepts: List(Text(64)) }),
  medical: Closed({ uses: Count(1), effects: List(Text(200)) }),
  food: Closed({ energy: Type.Number(), hydration: Type.Number() }),
  key: Closed({ mapId: Nullable(Id()), uses: Nullable(Count(1)) }),
};

export const StoredItem = Closed({
  ...COMMON,
  name: Name(),
  shortName: Nullable(Text(64)),
  description: Nullable(Text()),
  rarity: Nullable(oneOf(RARITIES)),
  handbook: Type.Object(
    { parent: Nullable(Text(64)), price: Nullable(Type.Integer({ minimum: 0 })) },
    { additionalProperties: false, default: {} },
  ),
  category: oneOf(CATEGORIES, { default: 'unknown' }),
  tags: List(Text(64)),
  weight: Nullable(Amount()),
  width: Nullable(Count()),
  height: Nullable(Count()),
  stackSize: Nullable(Count()),
  image: Link(),
  wiki: Link(),
  properties: Type.Object(
    Object.fromEntries(
      Object.entries(ITEM_PROPERTIES).map(([name, schema]) => [name, Type.Optional(schema)]),
    ) as {
      [K in keyof typeof ITEM_PROPERTIES]: ReturnType<
        typeof Type.Optional<(typeof ITEM_PROPERTIES)[K]>
      >;
    },
    { additionalProperties: false, maxProperties: 1, default: {} },
  ),
  ...TAIL,
});
export type StoredItem = Static<typeof StoredItem>;

const StoredAmmunition = Closed({
  ...COMMON,
  itemId: Nullable(Id()),
  name: Name(),
  shortName: Text(64),
  caliber: Caliber(),
  weight: Nullable(Amount()),
  stackMaxSize: Nullable(Count()),
  tracer: Flag(),
  tracerColor: Nullable(Text(64)),
  ammoType: oneOf(AMMO_TYPES, { default: 'bullet' }),
  projectileCount: Type.Integer({ minimum: 1, default: 1 }),
  ballistics: Closed({
    damage: Amount(),
    penetration: Type.Number({ minimum: 0, maximum: 100 }),
    armorDamage: Type.Number({ default: 0 }),
    fragmentation: Type.Number({ minimum: 0, maximum: 1, default: 0 }),
    ricochetChance: Type.Number({ minimum: 0, maximum: 1, default: 0 }),
    penetrationChance: Nullable(Ratio()),
    accuracy: Type.Number({ default: 0 }),
    recoil: Type.Number({ default: 0 }),
    initialSpeed: Type.Number({ minimum: 0, default: 0 }),
  }),
  ...TAIL,
});
export type StoredAmmunition = Static<typeof StoredAmmunition>;

export const StoredTrader = Closed({
  ...COMMON,
  name: Name(),
  fullName: Nullable(Text(200)),
  description: Type.String({ maxLength: 20_000, default: '' }),
  location: Nullable(Text(200)),
  currency: Text(32),
  currencies: List(Text(32)),
  image: Link(),
  wiki: Link(),
  loyalty: List(
    Closed({
      level: Count(1),
      requiredLevel: Type.Integer({ minimum: 0, default: 0 }),
      requiredReputation: Type.Number({ default: 0 }),
      requiredSales: Type.Number({ default: 0 }),
    }),
  ),
  inventory: List(
    Closed({
      id: Id(),
      price: Amount(),
      currency: Text(32),
      level: Count(1),
      questId: Nullable(Id()),
      stock: Nullable(Count()),
    }),
  ),
  mapIds: List(Id()),
  ...TAIL,
});
export type StoredTrader = Static<typeof StoredTrader>;

const Reputation = () => Closed({ traderId: Id(), value: Type.Number() });

export const StoredQuest = Closed({
  ...COMMON,
  gameId: Nullable(Text(64)),
  title: Name(),
  giverId: Id(),
  turnInId: Id(),
  description: Nullable(Text()),
  wiki: Link(),
  storylineId: Nullable(Id()),
  conditions: Type.Object(
    {
      location: Type.String({ default: 'any', maxLength: 80 }),
      level: Type.Integer({ minimum: 0, default: 0, maximum: 2_147_483_647 }),
      quests: List(Type.Array(Id(), { minItems: 1 })),
      loyalty: List(Closed({ traderId: Id(), level: Type.Number() })),
      objectives: List(Objective()),
    },
    { additionalProperties: false, default: {} },
  ),
  reward: Type.Object(
    {
      experience: Type.Number({ default: 0, minimum: 0 }),
      items: List(Closed({ id: Id(), count: Count(1) })),
      reputations: List(Reputation()),
      unlocks: List(Closed({ itemId: Id(), traderId: Nullable(Id()), level: Nullable(Count()) })),
    },
    { additionalProperties: false, default: {} },
  ),
  failure: Type.Object(
    { reputations: List(Reputation()) },
    { additionalProperties: false, default: {} },
  ),
  alternatives: List(Id()),
  flags: Type.Object(
    { deprecated: Flag(), optional: Flag() },
    { additionalProperties: false, default: {} },
  ),
  ...TAIL,
});
export type StoredQuest = Static<typeof StoredQuest>;

const StoredMap = Closed({
  ...COMMON,
  name: Name(),
  description: Nullable(Text()),
  min_level: Type.Integer({ minimum: 0, default: 0 }),
  players: Type.Integer({ minimum: 0, default: 0 }),
  duration: Type.Number({ minimum: 0, default: 0 }),
  durationNight: Nullable(Amount()),
  raidlevel: Nullable(oneOf(RAID_LEVELS)),
  image: Link(),
  wiki: Link(),
  spawns: List(
    Closed({ name: Text(200), description: Type.String({ default: '', maxLength: 2000 }) }),
  ),
  bosses: List(
    Closed({
      name: Text(200),
      description: Type.String({ default: '', maxLength: 2000 }),
      spawnChance: Ratio(),
    }),
  ),
  loot: List(
    Closed({
      type: oneOf(['highvalue', 'currency', 'ammo', 'medical', 'keys']),
      location: Text(200),
      examples: List(Text(200)),
      itemIds: List(Id()),
    }),
  ),
  extracts: List(
    Closed({ name: Text(200), description: Nullable(Text(2000)), requires: Nullable(Text(500)) }),
  ),
  enemies: List(Text(200)),
  accessItemIds: List(Id()),
  floors: List(Text(100)),
  ...TAIL,
});
export type StoredMap = Static<typeof StoredMap>;

const ItemCount = () => Closed({ id: Id(), count: Count(1), foundInRaid: Flag() });

export const StoredModule = Closed({
  ...COMMON,
  name: Name(),
  description: Nullable(Text()),
  disabled: Flag(),
  image: Link(),
  requirements: Type.Object(
    { electricity: Type.Integer({ minimum: 0, default: 0 }) },
    { additionalProperties: false, default: {} },
  ),
  levels: List(
    Closed({
      level: Count(1),
      description: Nullable(Text(2000)),
      constructionTime: Type.Number({ minimum: 0, default: 0 }),
      items: List(ItemCount()),
      modules: List(Closed({ id: Id(), level: Count(1) })),
      traders: List(Closed({ id: Id(), level: Count(1) })),
      skills: List(Closed({ name: Text(100), level: Count() })),
      bonuses: List(Bonus()),
    }),
  ),
  ...TAIL,
});
export type StoredModule = Static<typeof StoredModule>;

export const StoredPreset = Closed({
  ...COMMON,
  name: Name(),
  appendName: Nullable(Text(200)),
  default: Flag(),
  baseId: Id(),
  description: Nullable(Text()),
  mods: List(Closed({ slot: Text(64), item: Id() })),
  parts: List(Closed({ id: Id(), quantity: Type.Integer({ minimum: 1, default: 1 }) })),
  ...TAIL,
});
export type StoredPreset = Static<typeof StoredPreset>;

const LevelBonus = () => Type.Integer({ default: 0 });
const StoredLevel = Closed({
  ...COMMON,
  level: Count(1),
  exp: Type.Integer({ minimum: 0 }),
  expToNextLevel: Type.Integer({ minimum: 0, default: 0 }),
  title: Nullable(Text(200)),
  description: Nullable(Text()),
  group: Nullable(Type.Union([Type.Number(), Text(100)])),
  bonuses: Type.Object(
    {
      carry_weight: LevelBonus(),
      health: LevelBonus(),
      stash_size: LevelBonus(),
      radiation_resist: LevelBonus(),
    },
    { additionalProperties: false, default: {} },
  ),
  ...TAIL,
});
export type StoredLevel = Static<typeof StoredLevel>;

const StoredChapter = Closed({
  ...COMMON,
  order: Type.Integer({ default: 0 }),
  name: Name(),
  description: Type.String({ default: '', maxLength: 20_000 }),
  details: Nullable(Text(40_000)),
  fullText: Nullable(Text(100_000)),
  character: Nullable(Text(200)),
  timeline: Nullable(Text(200)),
  importance: Nullable(oneOf(IMPORTANCES)),
  relatedQuests: List(Closed({ id: Id() })),
  relatedCharacters: List(
    Closed({ id: Nullable(Id()), name: Nullable(Text(200)), role: Nullable(Text(200)) }),
  ),
  events: List(
    Closed({
      date: Text(100),
      title: Text(200),
      description: Type.String({ default: '', maxLength: 5000 }),
    }),
  ),
  requires: List(Id()),
  mapIds: List(Id()),
  objectives: List(
    Type.Object(
      { id: Id(), type: Text(64), description: Nullable(Text()), optional: Flag() },
      { additionalProperties: true },
    ),
  ),
  rewards: List(Type.Object({ type: Text(64) }, { additionalProperties: true })),
  branches: Type.Record(Type.String(), Type.Unknown(), { default: {} }),
  ...TAIL,
});
export type StoredChapter = Static<typeof StoredChapter>;

export interface StoredRecords {
  items: StoredItem;
  ammunition: StoredAmmunition;
  traders: StoredTrader;
  quests: StoredQuest;
  maps: StoredMap;
  hideout: StoredModule;
  'item-presets': StoredPreset;
  levels: StoredLevel;
  storyline: StoredChapter;
}

export const STORED_SCHEMAS = {
  items: StoredItem,
  ammunition: StoredAmmunition,
  traders: StoredTrader,
  quests: StoredQuest,
  maps: StoredMap,
  hideout: StoredModule,
  'item-presets': StoredPreset,
  levels: StoredLevel,
  storyline: StoredChapter,
};
