import { gameDataError } from '../../errors.js';
import { KIND_WIRE, type Kind } from '../../model/kinds.js';
import { normalText } from '../../model/normal-text.js';
import { servedSchema } from '../../model/schemas/served.js';
import { KIND_SPECS } from '../kinds/index.js';
import { type ReadFilters, readFilters } from './filters.js';
import { Parameters } from './parameters.js';
import { type Projection, readProjection } from './projection.js';
import { parseQuery, type QueryNode } from './search/q-parser.js';

export interface ListLimits {
  readonly defaultLimit: number;
  readonly maxLimit: number;
}

/** A validated list request. */
export interface ListRequest {
  readonly kind: Kind;
  /** `undefined`: all records. */
  readonly limit: number | undefined;
  readonly offset: number;
  /** Normalized. */
  readonly search: string | undefined;
  readonly query: QueryNode | undefined;
  readonly sort: readonly SortKey[];
  readonly fields: Projection | undefined;
  readonly includes: Includes;
  readonly ids: readonly string[] | undefined;
  readonly language: string | undefined;
  readonly version: number | undefined;
  readonly isPage: boolean;
  readonly isFullTextWanted: boolean;
  readonly filters: ReadFilters;
  /** Known parameters except limit and offset, sorted and without defaults. */
  readonly canonical: readonly (readonly [string, string])[];
  readonly ignored: readonly string[];
}

export interface Includes {
  readonly relations: readonly string[];
  /** Name of the parameter that the client used. */
  readonly param: 'include' | 'expand';
}

export interface SortKey {
  readonly field: string;
  readonly isDescending: boolean;
}

const MAX_SEARCH_LENGTH = 100;
const MAX_QUERY_LENGTH = 500;
const MAX_SORT_KEYS = 5;
const MAX_FIELDS = 50;
const MAX_IDS = 250;

/**
 * Parses a list request. Throws `invalid_parameter`. Source: gamedata, sections 2.4, 2.5 and 2.9.
 */
export function readListRequest(kind: Kind, queryText: string, limits: ListLimits): ListRequest {
  const parameters = new Parameters(queryText);
  const { isPaged } = KIND_WIRE[kind];
  const { limit, offset = 0 } = parameters.page(limits.maxLimit);
  const searchText = readText(parameters, 'search', MAX_SEARCH_LENGTH);
  const q = readText(parameters, 'q', MAX_QUERY_LENGTH);
  const sortText = parameters.list('sort', { max: MAX_SORT_KEYS });
  const fieldPaths = parameters.list('fields', { max: MAX_FIELDS });
  const includes = readIncludes(kind, parameters);
  const ids = parameters.list('ids', { max: MAX_IDS });
  const language = parameters.nonEmptyText('lang');
  const version = parameters.integer('version', { min: 1 });
  const isPage = parameters.choice('envelope', ['page']) === 'page';
  const isStrict = parameters.flag('strict') ?? false;
  const filters = readFilters(kind, parameters);
  const ignored = parameters.unknown;
  if (isStrict && ignored.length > 0) {
    const [first = ''] = ignored;
    const message = `unknown parameter ${ignored.join(', ')}`;
    throw gameDataError('unknown_parameter', { param: first, message });
  }
  const { relations, param } = includes;
  if (relations.length > 0 && !isPage && KIND_WIRE[kind].listKey === undefined) {
    throw gameDataError('invalid_parameter', {
      param,
      message: `${param} on this list requires envelope=page`,
    });
  }
  const isRanked = searchText !== undefined || q !== undefined;
  const sort = (sortText ?? []).map((text) => readSortKey(kind, text, isRanked));
  const given: (readonly [string, string | undefined])[] = [
    ...filters.provided,
    ['search', searchText],
    ['q', q],
    ['sort', sortText?.join(',')],
    ['fields', fieldPaths?.join(',')],
    ['include', relations.length > 0 ? relations.join(',') : undefined],
    ['ids', ids?.join(',')],
    ['lang', language],
    ['version', version === undefined ? undefined : String(version)],
    ['envelope', isPage ? 'page' : undefined],
  ];
  const canonical = given
    .filter((entry): entry is readonly [string, string] => entry[1] !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    kind,
    limit: limit ?? (isPaged ? limits.defaultLimit : undefined),
    offset,
    search: searchText === undefined ? undefined : normalText(searchText),
    query: q === undefined ? undefined : parseQuery(q),
    sort,
    fields:
      fieldPaths &&
      readProjection(fieldPaths, servedSchema(kind), kind === 'levels' ? 'level' : 'id'),
    includes,
    ids,
    language,
    version,
    isPage,
    isFullTextWanted: fieldPaths?.includes('fullText') ?? false,
    filters,
    canonical,
    ignored,
  };
}

/** A blank value counts as absent. */
function readText(parameters: Parameters, name: string, maxLength: number): string | undefined {
  const text = parameters.text(name);
  if (text === undefined || text.trim() === '') return undefined;
  // Counts characters, not UTF-16 code units.
  if (text.length <= maxLength || [...text].length <= maxLength) return text.trim();
  const message = `${name} must have at most ${maxLength} characters`;
  throw gameDataError('invalid_parameter', { param: name, message });
}

/** `expand` is an alias of `include`, used by other APIs. */
export function readIncludes(kind: Kind, parameters: Parameters): Includes {
  const known = KIND_SPECS[kind].includes;
  const requested = (['include', 'expand'] as const).flatMap(
    (name) => parameters.list(name, { max: 20 })?.map((relation) => ({ name, relation })) ?? [],
  );
  for (const { name, relation } of requested) {
    if (Object.hasOwn(known, relation)) continue;
    const message = `${name}: unknown relation ${relation}; known: ${Object.keys(known).join(', ') || 'none'}`;
    throw gameDataError('unknown_field', { param: name, message });
  }
  return {
    relations: [...new Set(requested.map(({ relation }) => relation))],
    param: requested[0]?.name ?? 'include',
  };
}

function readSortKey(kind: Kind, text: string, isRanked: boolean): SortKey {
  const isDescending = text.startsWith('-');
  const field = isDescending ? text.slice(1) : text;
  const { sortKeys } = KIND_SPECS[kind];
  if (sortKeys.includes(field)) return { field, isDescending };
  if (field === 'relevance') {
    if (isRanked) return { field, isDescending };
    const message = 'sort by relevance requires q or search';
    throw gameDataError('invalid_parameter', { param: 'sort', message });
  }
  const message = `unknown sort key ${field}; use one of ${sortKeys.join(', ')}`;
  throw gameDataError('unknown_field', { param: 'sort', message });
}
