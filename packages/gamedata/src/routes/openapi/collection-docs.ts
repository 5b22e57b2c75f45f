import { OpenApi, type RouteDescription } from '@plinth/kernel';
import { type TProperties, type TSchema, Type } from 'typebox';
import { KIND_SPECS } from '../../domain/kinds/index.js';
import type { ListLimits } from '../../domain/query/list-request.js';
import { MAX_OFFSET } from '../../domain/query/parameters.js';
import { KIND_WIRE, type Kind } from '../../model/kinds.js';
import { listSchema, recordSchema, SCHEMA_NAMES } from './record-schemas.js';
import { COMMON, docsOf, failures, flag, integer, ok, text } from './route-docs.js';

const FIELDS = text('members to return, as dot paths');

export function listDocs(kind: Kind, limits: ListLimits): RouteDescription {
  const { isPaged } = KIND_WIRE[kind];
  const spec = KIND_SPECS[kind];
  const byDefault = isPaged ? { default: limits.defaultLimit } : {};
  const filters = Object.entries(spec.filters).map(
    ([name, filter]) => [name, filterParameter(kind, name, filter)] as const,
  );
  return docsOf(kind, {
    operationId: `list${SCHEMA_NAMES[kind]}`,
    summary: `List ${kind}`,
    query: {
      limit: integer(0, limits.maxLimit, 'page size', byDefault),
      offset: integer(0, MAX_OFFSET, 'records to skip', { default: 0 }),
      search: text('part of a name, ignoring case and diacritics', { maxLength: 100 }),
      q: text('expression: words, "phrases", field:value, OR, -not', { maxLength: 500 }),
      sort: text(`keys: ${spec.sortKeys.join(', ')}; prefix - for descending order`),
      fields: FIELDS,
      ids: text('up to 250 ids'),
      envelope: text('use the common envelope of all lists', { enum: ['page'] }),
      ...includeParameters(kind),
      ...Object.fromEntries(filters),
      ...COMMON,
    },
    output: ok(listSchema(kind)),
    errors: failures(400, 404),
  });
}

const RECORD_NAMES: Readonly<Record<Kind, string>> = {
  items: 'an item',
  ammunition: 'an ammunition record',
  traders: 'a trader',
  quests: 'a quest',
  maps: 'a map',
  hideout: 'a hideout module',
  'item-presets': 'an item preset',
  levels: 'a level',
  storyline: 'a storyline element',
};

export function recordDocs(kind: Kind, name: 'id' | 'level'): RouteDescription {
  const isNamed = kind === 'traders' || kind === 'maps';
  return docsOf(kind, {
    operationId: `get${SCHEMA_NAMES[kind]}`,
    summary: `Get ${RECORD_NAMES[kind]}`,
    parameters: {
      [name]: Type.String({ description: isNamed ? 'id, slug or name' : 'id or slug' }),
    },
    query: { fields: FIELDS, ...includeParameters(kind), ...COMMON },
    output: {
      ...ok(recordSchema(kind)),
      301: OpenApi.response('the record has another id; see Location'),
    },
    errors: failures(400, 404),
  });
}

function includeParameters(kind: Kind): TProperties {
  const relations = Object.keys(KIND_SPECS[kind].includes);
  if (relations.length === 0) return {};
  const related = text(`related records, in \`included\`: ${relations.join(', ')}`);
  return { include: related, expand: related };
}

function filterParameter(
  kind: Kind,
  name: string,
  filter: (typeof KIND_SPECS)[Kind]['filters'][string],
): TSchema {
  if (filter.type !== 'any-of') {
    const description = `${filter.type} of ${filter.field}`;
    return Type.Optional(Type.Number({ description }));
  }
  const field = KIND_SPECS[kind].fields[filter.field];
  if (field?.type === 'flag') return flag(`only records with this value of ${name}`);
  if (field?.type === 'relation')
    return text(`id, slug or name of ${field.kind}; separate alternatives with commas`);
  const values = field?.type === 'words' ? field.values : undefined;
  const known = values === undefined ? '' : `: ${values.join(', ')}`;
  return text(`any of${known}`);
}
