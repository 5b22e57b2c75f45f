import type { CacheDefinition } from '@plinth/tsdb-caches/cache-definitions.js';
import type { Caches } from '@plinth/tsdb-caches/caches.js';
import type { ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { OpenTables } from '@plinth/tsdb-open-tables/open-tables.js';
import type { ProcessingEngine } from '@plinth/tsdb-plugins/domain/processing-engine.js';
import type { ContinuousQueries } from '../continuous-queries/continuous-queries.js';
import type { SavedQueries } from '../saved-queries/saved-queries.js';

export const REFERENCE_KINDS = [
  'last_cache',
  'distinct_cache',
  'trigger',
  'published_table',
  'continuous_query',
  'rollup',
  'saved_query',
] as const;

/** An object that refers to a table or column. */
export interface Reference {
  readonly kind: (typeof REFERENCE_KINDS)[number];
  readonly name: string;
  /** Of a saved query. */
  readonly id?: string;
}

export interface References {
  /** Objects that refer to the table or column by id, or are changed together with its name. */
  readonly follows: readonly Reference[];
  /** Objects whose text contains the name. */
  readonly needs_change: readonly Reference[];
}

interface Deps {
  readonly caches: Caches;
  readonly continuousQueries: ContinuousQueries;
  readonly savedQueries: SavedQueries;
  readonly processing: { readonly engine: ProcessingEngine };
  readonly openTables: OpenTables;
}

/** Lists the objects that refer to a table, or to one of its columns. */
export async function referencesTo(
  deps: Deps,
  to: {
    readonly database: DatabaseSchema;
    readonly table: TableSchema;
    readonly column?: { readonly id: number; readonly name: string; readonly kind: ColumnKind };
    /** Whether the column is converted. Caches that name it are then deleted; the others follow the table. */
    readonly isConverted?: boolean;
  },
): Promise<References> {
  const { database, table, column, isConverted = false } = to;
  const isNamed = nameTest([table.name, ...(column === undefined ? [] : [column.name])]);
  const names = (definition: CacheDefinition): boolean =>
    column !== undefined && namesColumn(definition, column.id);
  const follows = (definition: CacheDefinition): boolean =>
    isConverted
      ? !names(definition)
      : column === undefined || usesAllColumns(definition) || names(definition);
  return {
    follows: [
      ...cachesOf(deps.caches, to, follows),
      ...triggersOf(deps, to),
      ...publications(deps, to),
    ],
    needs_change: [
      ...(isConverted ? cachesOf(deps.caches, to, names) : []),
      ...pluginTriggers(deps, database, column?.name ?? table.name),
      ...queriesOf(deps.continuousQueries, database, isNamed),
      ...(await savedQueriesOf(deps.savedQueries, database, isNamed)),
    ],
  };
}

type To = Parameters<typeof referencesTo>[1];

function cachesOf(
  caches: Caches,
  { database, table }: To,
  isListed: (definition: CacheDefinition) => boolean,
): Reference[] {
  return (['last', 'distinct'] as const).flatMap((kind) =>
    caches
      .definitions(database, kind)
      .filter((each) => each.table.id === table.id && isListed(each.definition))
      .map(({ definition }): Reference => ({ kind: `${kind}_cache`, name: definition.name })),
  );
}

const usesAllColumns = (definition: CacheDefinition): boolean =>
  definition.kind === 'last' && definition.valueColumnIds === undefined;

const namesColumn = (definition: CacheDefinition, columnId: number): boolean =>
  (definition.kind === 'distinct'
    ? definition.columnIds
    : [...definition.keyColumnIds, ...(definition.valueColumnIds ?? [])]
  ).includes(columnId);

function triggersOf({ processing }: Deps, { database, table, column }: To): Reference[] {
  if (column !== undefined) return [];
  return processing.engine.triggers
    .of(database.id)
    .filter(
      ({ specification }) => specification.kind === 'table' && specification.table === table.name,
    )
    .map(({ name }) => ({ kind: 'trigger', name }));
}

const publications = ({ openTables }: Deps, { database, table }: To): Reference[] =>
  openTables.isPublished(database.name) && openTables.find(table.id) !== undefined
    ? [{ kind: 'published_table', name: table.name }]
    : [];

/** Returns the triggers whose arguments contain the name. */
function pluginTriggers({ processing }: Deps, database: DatabaseSchema, name: string): Reference[] {
  const isNamed = nameTest([name]);
  return processing.engine.triggers
    .of(database.id)
    .filter((trigger) => [...(trigger.arguments?.values() ?? [])].some(isNamed))
    .map((trigger) => ({ kind: 'trigger', name: trigger.name }));
}

function queriesOf(
  queries: ContinuousQueries,
  database: DatabaseSchema,
  isNamed: (text: string) => boolean,
): Reference[] {
  return queries
    .all()
    .filter(({ definition, target }) => isNamed(`${definition.text} ${target ?? ''}`))
    .filter(
      (query) => query.database === database.name || query.definition.text.includes(database.name),
    )
    .map(({ name, definition }) => ({
      kind: definition.language === 'sql' ? 'rollup' : 'continuous_query',
      name,
    }));
}

async function savedQueriesOf(
  queries: SavedQueries,
  database: DatabaseSchema,
  isNamed: (text: string) => boolean,
): Promise<Reference[]> {
  return (await queries.list())
    .filter(({ text }) => isNamed(text))
    .filter(({ db, text }) => db === database.name || text.includes(database.name))
    .map(({ name, id }) => ({ kind: 'saved_query', name, id }));
}

/**
 * Returns a test whether a text contains all names, each as a complete word. The text is not parsed, because it may
 * contain variables and other languages.
 */
function nameTest(names: readonly string[]): (text: string) => boolean {
  const patterns = names.map((name) => {
    const escaped = name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'u');
  });
  return (text) => patterns.every((pattern) => pattern.test(text));
}
