import { type TObject, type TSchema, Type } from 'typebox';
import type { Kind } from '../kinds.js';
import { Closed, Id, Locales, Nullable, Text } from './base.js';
import { STORED_SCHEMAS } from './stored.js';

/** Records in responses: stored members, and members computed from other records. */

const named = (): TSchema => Closed({ id: Id(), name: Nullable(Text(200)) });
const amount = (): TSchema => Nullable(Type.Number());
const computedNumbers = {
  ergonomics: amount(),
  weight: amount(),
  recoil: amount(),
  accuracy: amount(),
  fireRate: amount(),
  damagePerShot: amount(),
};

/** Adds members to the entries of a nested list. */
function withMembers(list: TSchema, members: Record<string, TSchema>): TSchema {
  const entry: TObject = Reflect.get(list, 'items');
  return Type.Array(Closed({ ...entry.properties, ...members }));
}

const objectWith = (object: TSchema, members: Record<string, TSchema>): TSchema =>
  Closed({ ...Reflect.get(object, 'properties'), ...members });

function derived(kind: Kind): Record<string, TSchema> {
  const stored = STORED_SCHEMAS;
  switch (kind) {
    case 'items':
      return {
        relations: Closed({
          soldBy: Type.Array(
            Closed({
              traderId: Id(),
              level: Type.Integer(),
              price: Type.Number(),
              currency: Type.String(),
            }),
          ),
          quests: Type.Array(Id()),
          rewardedBy: Type.Array(Id()),
          hideout: Type.Array(Closed({ moduleId: Id(), level: Type.Integer() })),
          presets: Type.Array(Id()),
        }),
      };
    case 'ammunition':
      return {
        ballistics: objectWith(stored.ammunition.properties.ballistics, {
          penetrationPower: Type.Number(),
          fragmentationChance: Type.Number(),
          ricochet: Type.String({ enum: ['none', 'low', 'medium', 'high'] }),
        }),
        properties: Closed({ cost: amount(), weight: amount() }),
      };
    case 'traders':
      return {
        level: Type.Integer(),
        inventory: withMembers(stored.traders.properties.inventory, { name: Nullable(Text(200)) }),
        quests: Type.Array(named()),
      };
    case 'quests':
      return {
        name: Text(200),
        giver: Nullable(Text(200)),
        objectives: stored.quests.properties.conditions.properties.objectives,
        reward: objectWith(stored.quests.properties.reward, {
          items: withMembers(stored.quests.properties.reward.properties.items, {
            name: Nullable(Text(200)),
          }),
          reputation: Type.Number(),
        }),
      };
    case 'maps':
      return {
        bosses: withMembers(stored.maps.properties.bosses, {
          spawnRate: Type.String({ pattern: '^[0-9.]+%$' }),
        }),
        quests: Type.Array(named()),
      };
    case 'hideout':
      return {
        level: Type.Integer(),
        requirements: objectWith(stored.hideout.properties.requirements, {
          materials: Type.Array(Closed({ id: Id(), count: Type.Integer() })),
        }),
        bonuses: Type.Array(
          Closed({
            type: Text(64),
            value: Type.Union([Type.Number(), Text(200)]),
            level: Type.Integer(),
          }),
        ),
      };
    case 'item-presets':
      return {
        mods: withMembers(stored['item-presets'].properties.mods, { name: Nullable(Text(200)) }),
        ...computedNumbers,
      };
    case 'levels':
      return { totalExp: Type.Integer() };
    case 'storyline':
      return {
        relatedQuests: Type.Array(named()),
        fullText: Type.Optional(stored.storyline.properties.fullText),
      };
  }
}

const made = new Map<Kind, TObject>();

/**
 * Returns the JSON Schema of a served record; `locales` is present with `lang=all`. Created on
 * first use.
 */
export function servedSchema(kind: Kind): TObject {
  let schema = made.get(kind);
  if (schema === undefined) {
    const { locales: _locales, source: _source, ...stored } = STORED_SCHEMAS[kind].properties;
    schema = Closed({ ...stored, ...derived(kind), locales: Type.Optional(Locales()) });
    made.set(kind, schema);
  }
  return schema;
}
