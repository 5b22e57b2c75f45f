import type { Migration, RelationalStore } from '@plinth/kernel';
import { fromStoredName, toStoredName } from '@plinth/tsdb-catalog/schema/stored-name.js';

/** A continuous query of InfluxQL, or a rollup of SQL. */
export type QueryDefinition =
  | {
      readonly language: 'influxql';
      /** The CREATE statement. */
      readonly text: string;
    }
  | {
      readonly language: 'sql';
      /** A query with the parameters `$from` and `$to`. */
      readonly text: string;
      readonly everyNs: bigint;
      readonly forNs: bigint | undefined;
      /** Table of the results. */
      readonly table: string;
    };

export interface StoredQuery {
  readonly id: number;
  readonly databaseId: number;
  readonly name: string;
  readonly definition: QueryDefinition;
  /** See `QueryRun`; `undefined` before the first run. */
  readonly positionNs: bigint | undefined;
}

type Tables = {
  tsdb_continuous_queries: {
    id: number;
    database_id: number;
    name: string;
    language: QueryDefinition['language'];
    text: string;
    /** JSON object; nanoseconds are strings. */
    options: string;
    /** Nanoseconds since 1970 as decimal digits, because they exceed the exact range of JavaScript numbers. */
    position_ns: string | null;
  };
  tsdb_continuous_query_ids: { id: number; last_id: number };
};

export const CONTINUOUS_QUERY_MIGRATIONS: readonly Migration[] = [
  {
    name: '0001_continuous_queries',
    async up(tx) {
      await tx.schema
        .createTable('tsdb_continuous_queries')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('database_id', 'integer', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('language', 'text', (column) => column.notNull())
        .addColumn('text', 'text', (column) => column.notNull())
        .addColumn('options', 'text', (column) => column.notNull())
        .addColumn('position_ns', 'text')
        .addUniqueConstraint('tsdb_continuous_queries_name', ['database_id', 'name'])
        .execute();
      // Ids are never reused, so that a late position of a dropped query changes no other query.
      await tx.schema
        .createTable('tsdb_continuous_query_ids')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('last_id', 'integer', (column) => column.notNull())
        .execute();
      await tx
        .withTables<Tables>()
        .insertInto('tsdb_continuous_query_ids')
        .values({ id: 1, last_id: 0 })
        .execute();
    },
  },
];

/** Continuous queries in the relational store. Changes are durable when a call resolves. */
export class ContinuousQueryRecords {
  readonly #store: RelationalStore;

  constructor(store: RelationalStore) {
    this.#store = store;
  }

  /** Returns all queries, in order of creation. */
  async load(): Promise<readonly StoredQuery[]> {
    const rows = await this.#store
      .reader<Tables>()
      .selectFrom('tsdb_continuous_queries')
      .selectAll()
      .orderBy('id')
      .execute();
    return rows.map((row) => ({
      id: Number(row.id),
      databaseId: Number(row.database_id),
      name: fromStoredName(row.name),
      definition: definitionOf(row),
      positionNs: row.position_ns === null ? undefined : BigInt(row.position_ns),
    }));
  }

  async add(query: Omit<StoredQuery, 'id'>): Promise<StoredQuery> {
    const { databaseId, name, definition, positionNs } = query;
    return await this.#store.transaction<Tables, StoredQuery>(async (tx) => {
      const { last_id: id } = await tx
        .updateTable('tsdb_continuous_query_ids')
        .set(({ eb }) => ({ last_id: eb('last_id', '+', 1) }))
        .returning('last_id')
        .executeTakeFirstOrThrow();
      await tx
        .insertInto('tsdb_continuous_queries')
        .values({
          id,
          database_id: databaseId,
          name: toStoredName(name),
          language: definition.language,
          text: definition.text,
          options: optionsOf(definition),
          position_ns: positionNs === undefined ? null : String(positionNs),
        })
        .execute();
      return { id: Number(id), databaseId, name, definition, positionNs };
    });
  }

  async setPosition(id: number, positionNs: bigint): Promise<void> {
    await this.#store.transaction<Tables, void>(async (tx) => {
      await tx
        .updateTable('tsdb_continuous_queries')
        .set({ position_ns: String(positionNs) })
        .where('id', '=', id)
        .execute();
    });
  }

  async remove(ids: readonly number[]): Promise<void> {
    await this.#store.transaction<Tables, void>(async (tx) => {
      await tx
        .deleteFrom('tsdb_continuous_queries')
        .where('id', 'in', [...ids])
        .execute();
    });
  }
}

type Row = Pick<Tables['tsdb_continuous_queries'], 'language' | 'text' | 'options'>;

interface SqlOptions {
  readonly every_ns: string;
  readonly for_ns?: string;
  readonly table: string;
}

function optionsOf(definition: QueryDefinition): string {
  if (definition.language === 'influxql') return '{}';
  const { everyNs, forNs, table } = definition;
  const options: SqlOptions = {
    every_ns: String(everyNs),
    ...(forNs !== undefined && { for_ns: String(forNs) }),
    table,
  };
  return JSON.stringify(options);
}

function definitionOf({ language, text, options }: Row): QueryDefinition {
  if (language === 'influxql') return { language, text };
  const { every_ns, for_ns, table } = JSON.parse(options) as SqlOptions; // written by `optionsOf`
  const forNs = for_ns === undefined ? undefined : BigInt(for_ns);
  return { language, text, everyNs: BigInt(every_ns), forNs, table };
}
