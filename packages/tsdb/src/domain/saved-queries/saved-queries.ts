import type { Clock, Migration, Random, RelationalStore } from '@plinth/kernel';
import type { Kysely } from 'kysely';

/** A query saved under a name. */
export interface SavedQueryContent {
  readonly name: string;
  readonly description: string;
  readonly folder: string;
  readonly tags: readonly string[];
  readonly db: string;
  readonly lang: 'sql' | 'influxql';
  readonly text: string;
  /** Chart options of the page that saved the query. The server does not interpret them. */
  readonly view: Readonly<Record<string, unknown>>;
}

export interface SavedQuery extends SavedQueryContent {
  readonly id: string;
  /** Increases with every change. */
  readonly rev: number;
  /** Name of the token that created it. */
  readonly created_by: string | null;
  readonly updated_at: string;
}

/**
 * `conflict` if the query was changed since that revision, `full` if the total size limit would be exceeded.
 */
export type ChangeRefusal = 'not_found' | 'conflict' | 'full';

const MAX_COUNT = 10_000;
/** Total size of all saved queries, because the list is one response. */
const MAX_TOTAL_CHARS = 16 * 1024 * 1024;
/** Excludes characters that look alike. */
const LETTERS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const ID_LENGTH = 8;

interface Tables {
  tsdb_saved_queries: {
    id: string;
    rev: number;
    created_by: string | null;
    updated_ms: number;
    /** The remaining properties, as JSON. */
    content: string;
  };
}

export const SAVED_QUERY_MIGRATIONS: readonly Migration[] = [
  {
    name: '0001_saved_queries',
    async up(tx) {
      await tx.schema
        .createTable('tsdb_saved_queries')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('rev', 'integer', (column) => column.notNull())
        .addColumn('created_by', 'text')
        .addColumn('updated_ms', 'bigint', (column) => column.notNull())
        .addColumn('content', 'text', (column) => column.notNull())
        .execute();
    },
  },
];

/** Saved queries in the relational store. They are not cached, because pages read them rarely. */
export class SavedQueries {
  readonly #store: RelationalStore;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(store: RelationalStore, options: { readonly clock: Clock; readonly random: Random }) {
    this.#store = store;
    this.#clock = options.clock;
    this.#random = options.random;
  }

  /** Returns all queries, sorted by folder and name. */
  async list(): Promise<readonly SavedQuery[]> {
    const rows = await this.#store
      .reader<Tables>()
      .selectFrom('tsdb_saved_queries')
      .selectAll()
      .execute();
    const key = ({ folder, name, id }: SavedQuery): string => `${folder}\0${name}\0${id}`;
    return rows.map(fromRow).sort((a, b) => (key(a) < key(b) ? -1 : 1));
  }

  async find(id: string): Promise<SavedQuery | undefined> {
    const row = await this.#store
      .reader<Tables>()
      .selectFrom('tsdb_saved_queries')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && fromRow(row);
  }

  /** Returns `undefined` if the count or size limit is reached. */
  async create(content: SavedQueryContent, by: string | null): Promise<SavedQuery | undefined> {
    const row = { id: this.#newId(), rev: 1, created_by: by, ...this.#stamp(content) };
    const isMade = await this.#store.transaction<Tables, boolean>(async (tx) => {
      const { count, chars } = await amountOf(tx);
      if (count >= MAX_COUNT || chars + row.content.length > MAX_TOTAL_CHARS) return false;
      await tx.insertInto('tsdb_saved_queries').values(row).execute();
      return true;
    });
    return isMade ? fromRow(row) : undefined;
  }

  /** @param revs accepted current revisions; `undefined` accepts any. */
  async replace(
    id: string,
    content: SavedQueryContent,
    revs: readonly number[] | undefined,
  ): Promise<SavedQuery | ChangeRefusal> {
    return await this.#store.transaction<Tables, SavedQuery | ChangeRefusal>(async (tx) => {
      const found = await tx
        .selectFrom('tsdb_saved_queries')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst();
      if (found === undefined) return 'not_found';
      if (revs?.includes(Number(found.rev)) === false) return 'conflict';
      const row = { ...found, ...this.#stamp(content), rev: Number(found.rev) + 1 };
      const { chars } = await amountOf(tx);
      if (chars - found.content.length + row.content.length > MAX_TOTAL_CHARS) return 'full';
      const { id: _, ...changes } = row;
      await tx.updateTable('tsdb_saved_queries').set(changes).where('id', '=', id).execute();
      return fromRow(row);
    });
  }

  async delete(id: string): Promise<boolean> {
    return await this.#store.transaction<Tables, boolean>(async (tx) => {
      const found = await tx
        .selectFrom('tsdb_saved_queries')
        .select('id')
        .where('id', '=', id)
        .executeTakeFirst();
      if (found === undefined) return false;
      await tx.deleteFrom('tsdb_saved_queries').where('id', '=', id).execute();
      return true;
    });
  }

  #stamp(content: SavedQueryContent): { updated_ms: number; content: string } {
    return { updated_ms: this.#clock.nowMs(), content: JSON.stringify(content) };
  }

  #newId(): string {
    let id = '';
    while (id.length < ID_LENGTH) {
      id += LETTERS[Math.floor(this.#random.float() * LETTERS.length)];
    }
    return id;
  }
}

async function amountOf(
  tx: Kysely<Tables>,
): Promise<{ readonly count: number; readonly chars: number }> {
  const { count, chars } = await tx
    .selectFrom('tsdb_saved_queries')
    .select(({ fn, ref }) => [
      fn.countAll().as('count'),
      fn.sum(fn<number>('length', [ref('content')])).as('chars'),
    ])
    .executeTakeFirstOrThrow();
  return { count: Number(count), chars: Number(chars ?? 0) };
}

function fromRow(row: Tables['tsdb_saved_queries']): SavedQuery {
  return {
    id: row.id,
    ...(JSON.parse(row.content) as SavedQueryContent), // written by `#stamp`
    rev: Number(row.rev),
    created_by: row.created_by,
    updated_at: new Date(Number(row.updated_ms)).toISOString(),
  };
}
