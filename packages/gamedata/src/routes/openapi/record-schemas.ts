import { OpenApi } from '@plinth/kernel';
import { KIND_WIRE, KINDS, type Kind } from '../../model/kinds.js';
import { servedSchema } from '../../model/schemas/served.js';
import { STORED_SCHEMAS } from '../../model/schemas/stored.js';

const { ref } = OpenApi;

/** Singular schema names of the kinds. */
export const SCHEMA_NAMES: Readonly<Record<Kind, string>> = {
  items: 'Item',
  ammunition: 'Ammunition',
  traders: 'Trader',
  quests: 'Quest',
  maps: 'Map',
  hideout: 'HideoutModule',
  'item-presets': 'ItemPreset',
  levels: 'Level',
  storyline: 'StorylineElement',
};

/** Schemas of served records, of records sent by editors, and of partial records, by name. */
export function recordSchemas(): Record<string, object> {
  return {
    ...Object.fromEntries(KINDS.map((kind) => [SCHEMA_NAMES[kind], servedSchema(kind)])),
    ...Object.fromEntries(KINDS.map((kind) => [`${SCHEMA_NAMES[kind]}Draft`, draftSchema(kind)])),
    ...PARTS,
  };
}

/**
 * Returns the schema of a record sent by an editor; only members without a default are required.
 */
function draftSchema(kind: Kind): object {
  const { updatedAt: _set, source: _hidden, ...properties } = STORED_SCHEMAS[kind].properties;
  const required = Object.entries(properties)
    .filter(([name, schema]) => name !== 'slug' && Reflect.get(schema, 'default') === undefined)
    .map(([name]) => name);
  return { type: 'object', properties, required };
}

/**
 * Returns the schema of a list response: with the collection's own envelope or the common envelope of
 * `envelope=page`, each with complete records or with the fields that `fields` selects.
 */
export function listSchema(kind: Kind): object {
  const shapes = [ref(SCHEMA_NAMES[kind]), ref(partsName(kind))].flatMap((record) => [
    ownEnvelope(kind, record),
    pageEnvelope(record),
  ]);
  return { anyOf: shapes };
}

/** Returns the schema of a record, complete or as selected by `fields`. */
export const recordSchema = (kind: Kind): object => ({
  anyOf: [ref(SCHEMA_NAMES[kind]), ref(partsName(kind))],
});

/** All lists except one are keyed by id. */
const partsName = (kind: Kind): string => (kind === 'levels' ? 'LevelParts' : 'RecordParts');

const PARTS = {
  RecordParts: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  LevelParts: { type: 'object', properties: { level: { type: 'integer' } }, required: ['level'] },
};

function ownEnvelope(kind: Kind, record: object): object {
  const list = { type: 'array', items: record };
  const { listKey } = KIND_WIRE[kind];
  if (listKey !== undefined) return envelope(listKey, list);
  if (kind === 'traders') return { type: 'object', additionalProperties: record };
  if (kind === 'hideout')
    return { type: 'object', properties: { modules: list }, required: ['modules'] };
  return list;
}

const pageEnvelope = (record: object): object =>
  envelope('data', { type: 'array', items: record }, { version: { type: 'integer', minimum: 1 } });

function envelope(key: string, list: object, more: Readonly<Record<string, object>> = {}): object {
  const link = { type: ['string', 'null'] };
  const count = { type: 'integer', minimum: 0 };
  return {
    type: 'object',
    properties: {
      total: count,
      count,
      offset: count,
      limit: count,
      next: link,
      previous: link,
      notFound: { type: 'array', items: { type: 'string' } },
      included: { type: 'object', additionalProperties: { type: 'object' } },
      ...more,
      [key]: list,
    },
    required: ['total', 'count', 'offset', 'limit', 'next', 'previous', key, ...Object.keys(more)],
  };
}
