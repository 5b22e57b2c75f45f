import { KIND_SPECS } from '../../domain/kinds/index.js';
import type { ListLimits } from '../../domain/query/list-request.js';
import { KIND_WIRE, KINDS, type Kind } from '../../model/kinds.js';
import { failures, type Operation, ok } from './operation.js';
import { COMMON, inPath, integer, type Parameter, query, text } from './parameters.js';
import { listSchema, recordSchema, SCHEMA_NAMES } from './record-schemas.js';

/** The list of each kind, and one record of it. */
export function collectionPaths(limits: ListLimits): Record<string, Operation> {
  const paths: Record<string, Operation> = {};
  for (const kind of KINDS) {
    paths[`/api/${kind}`] = { get: listOperation(kind, limits) };
    const id = kind === 'levels' ? 'level' : 'id';
    paths[`/api/${kind}/{${id}}`] = { get: recordOperation(kind, id) };
  }
  return paths;
}

function listOperation(kind: Kind, limits: ListLimits): Operation {
  const { isPaged } = KIND_WIRE[kind];
  const spec = KIND_SPECS[kind];
  const byDefault = isPaged ? { default: limits.defaultLimit } : {};
  const parameters: Parameter[] = [
    query('limit', integer(0, limits.maxLimit, byDefault), 'records in the reply'),
    query('offset', integer(0, 2_147_483_647, { default: 0 }), 'records to pass over'),
    query('search', text({ maxLength: 100 }), 'part of a name, whatever its case and marks'),
    query('q', text({ maxLength: 500 }), 'expression: words, "phrases", field:value, OR, -not'),
    query('sort', text(), `keys: ${spec.sortKeys.join(', ')}; - in front for descending`),
    query('fields', text(), 'members to show, as dot paths'),
    query('ids', text(), 'up to 250 ids'),
    query('envelope', text({ enum: ['page'] }), 'the same envelope for every list'),
    ...includeParameters(kind),
    ...Object.entries(spec.filters).map(([name, filter]) => filterParameter(kind, name, filter)),
    ...COMMON,
  ];
  return {
    operationId: `list${SCHEMA_NAMES[kind]}`,
    summary: `List ${kind}`,
    tags: [kind],
    parameters,
    responses: { ...ok(listSchema(kind)), ...failures(400, 404) },
  };
}

function recordOperation(kind: Kind, id: string): Operation {
  return {
    operationId: `get${SCHEMA_NAMES[kind]}`,
    summary: `One of ${kind}`,
    tags: [kind],
    parameters: [
      inPath(id, kind === 'traders' || kind === 'maps' ? 'id, slug or name' : 'id or slug'),
      query('fields', text(), 'members to show, as dot paths'),
      ...includeParameters(kind),
      ...COMMON,
    ],
    responses: {
      ...ok(recordSchema(kind)),
      '301': { description: 'the record has another id; see Location' },
      ...failures(400, 404),
    },
  };
}

function includeParameters(kind: Kind): readonly Parameter[] {
  const relations = Object.keys(KIND_SPECS[kind].includes);
  if (relations.length === 0) return [];
  return ['include', 'expand'].map((name) =>
    query(name, text(), `related records, in \`included\`: ${relations.join(', ')}`),
  );
}

function filterParameter(
  kind: Kind,
  name: string,
  filter: (typeof KIND_SPECS)[Kind]['filters'][string],
): Parameter {
  if (filter.type !== 'any-of')
    return query(name, { type: 'number' }, `${filter.type} of ${filter.field}`);
  const field = KIND_SPECS[kind].fields[filter.field];
  if (field?.type === 'flag') return query(name, { type: 'boolean' }, `only where ${name} is so`);
  if (field?.type === 'relation')
    return query(name, text(), `id, slug or name of ${field.kind}; commas for any of`);
  const values = field?.type === 'words' ? field.values : undefined;
  const known = values === undefined ? '' : `: ${values.join(', ')}`;
  return query(name, text(), `any of${known}`);
}
