import type { RelationalStore } from '@plinth/kernel';
import { type Column, storedTagNameOf } from '@plinth/tsdb-model/columns/column.js';
import { MAX_FORMER_NAMES } from '@plinth/tsdb-model/database/limits.js';
import { INTERNAL_DATABASE, isReservedColumn } from '@plinth/tsdb-model/database/names.js';
import { tableNotKnown, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { Transaction } from 'kysely';
import type { CatalogState } from '../catalog-state.js';
import type { CatalogChanges } from '../records/catalog-changes.js';
import type { CatalogTables } from '../records/catalog-tables.js';
import { deleteFormerName, writeColumnName, writeTableName } from '../records/rename-records.js';
import { hasChange } from '../records/write-catalog.js';
import { assertColumnName, assertTableName } from './draft-table.js';
import { byName, type TableEntry } from './grow-table.js';

export interface TableRename {
  readonly database: string;
  readonly table: string;
  readonly newName: string;
}

export interface ColumnRename extends TableRename {
  readonly column: string;
}

/** A renamed table. */
export interface RenamedTable {
  readonly databaseId: number;
  readonly before: string;
  readonly after: string;
}

/** Objects that store table names and are updated when a table is renamed. */
export interface RenameFollower {
  /** Changes the stored names in the transaction of the rename. */
  write<DB>(tx: Transaction<DB>, renamed: RenamedTable): Promise<void>;
  /** Called in the tick in which the rename becomes visible. */
  applyCommitted(renamed: RenamedTable): void;
}

interface Found {
  readonly database: DatabaseSchema;
  readonly entry: TableEntry;
}

/**
 * Renames tables and columns: changes the catalog only. Files and log records contain ids, the
 * physical names of columns and the keys of tags, which never change. Source: tsdb-http, "Renames".
 */
export class CatalogRenames {
  readonly #state: CatalogState;
  readonly #store: RelationalStore;
  readonly #changes: CatalogChanges;
  readonly #onRenamed: (table: TableSchema) => void;
  readonly #followers: RenameFollower[] = [];
  #isBusy: (tableId: number) => boolean = () => false;

  constructor(deps: {
    readonly state: CatalogState;
    readonly store: RelationalStore;
    /** Serializes the changes to each database. */
    readonly changes: CatalogChanges;
    /** Called in the tick in which a new name becomes visible. */
    readonly onRenamed: (table: TableSchema) => void;
  }) {
    this.#state = deps.state;
    this.#store = deps.store;
    this.#changes = deps.changes;
    this.#onRenamed = deps.onRenamed;
  }

  follow(follower: RenameFollower): void {
    this.#followers.push(follower);
  }

  /** Refuses renames of the tables, and of their columns, for which the function returns true. */
  refuseWhile(isBusy: (tableId: number) => boolean): void {
    this.#isBusy = isBusy;
  }

  /**
   * Returns the table if `renameTable` would succeed. Throws `internal_database`,
   * `database_not_known`, `table_not_known`, `table_definition_invalid`, `rename_invalid`,
   * `name_taken`, `schema_limit_reached`, `table_converting`.
   */
  checkTable(rename: TableRename): TableSchema {
    const { database, entry } = this.#find(rename);
    const { newName } = rename;
    assertTableName(newName);
    if (newName.startsWith('#')) throw notExpressible(newName, "starts with '#', like a comment,");
    assertExpressible(newName);
    assertOther('table', rename.table, newName);
    const deleted = this.#state.deleted.table(database.id, newName);
    if (database.tables.has(newName) || deleted !== undefined) {
      const problem =
        deleted === undefined
          ? `table '${newName}' already exists`
          : `a deleted table still has the name '${newName}'`;
      throw tsdbError('name_taken', `${problem}; use another name`);
    }
    const owner = database.formerTables?.get(newName);
    if (owner !== undefined && owner !== rename.table) {
      const fix = 'use another name, or forget the former name first';
      throw tsdbError('name_taken', `'${newName}' is a former name of table '${owner}'; ${fix}`);
    }
    if (owner === undefined)
      assertRoom((entry.schema.formerNames ?? []).length, `table '${rename.table}'`);
    this.#assertIdle(entry.schema);
    return entry.schema;
  }

  /** Like `checkTable`, for `renameColumn`; also throws `column_not_known`. */
  checkColumn(rename: ColumnRename): { readonly table: TableSchema; readonly column: Column } {
    const { schema } = this.#find(rename).entry;
    const { table, column: name, newName } = rename;
    const column = schema.columns.get(name);
    if (column === undefined) {
      const renamedTo = schema.formerColumns?.get(name);
      throw tsdbError('column_not_known', { table, column: name, renamedTo });
    }
    if (column.kind === 'time')
      throw tsdbError('rename_invalid', "column 'time' cannot be renamed; choose a tag or a field");
    assertColumnName(newName);
    assertExpressible(newName);
    if (isReservedColumn(newName))
      throw tsdbError('rename_invalid', `'${newName}' is a reserved column; use another name`);
    assertOther('column', name, newName);
    if (schema.columns.has(newName))
      throw tsdbError('name_taken', `column '${newName}' already exists; use another name`);
    const owner = schema.formerColumns?.get(newName);
    if (owner !== undefined && owner !== name) {
      const text = `'${newName}' is a former name of column '${owner}'; use another name`;
      throw tsdbError('name_taken', text);
    }
    if (owner === undefined)
      assertRoom(schema.formerColumns?.size ?? 0, `the columns of table '${table}'`);
    this.#assertIdle(schema);
    return { table: schema, column };
  }

  async renameTable(rename: TableRename): Promise<void> {
    const { table: before, newName: after } = rename;
    await this.#changes.run(rename.database, async () => {
      const schema = this.checkTable(rename);
      const { database, entry } = this.#find(rename);
      const formerNames = [...(schema.formerNames ?? []).filter((name) => name !== after), before];
      const renamed = { databaseId: database.id, before, after };
      await this.#make(database, entry, {
        after: { ...schema, name: after, formerNames, version: schema.version + 1 },
        write: async (tx) => {
          await writeTableName(tx, { ...renamed, tableId: schema.id });
          for (const each of this.#followers) await each.write(tx, renamed);
        },
        applyCommitted: () => {
          for (const each of this.#followers) each.applyCommitted(renamed);
        },
      });
    });
  }

  async renameColumn(rename: ColumnRename): Promise<void> {
    const { column: before, newName: after } = rename;
    await this.#changes.run(rename.database, async () => {
      const { table: schema, column } = this.checkColumn(rename);
      const { database, entry } = this.#find(rename);
      const storedTagName = column.kind === 'tag' ? storedTagNameOf(column) : undefined;
      await this.#make(database, entry, {
        after: withColumnName(schema, column, after),
        write: (tx) =>
          writeColumnName(tx, {
            tableId: schema.id,
            columnId: column.id,
            before,
            after,
            storedTagName,
          }),
      });
    });
  }

  /**
   * Frees a former name of a table, so that a new table can use it. Throws `internal_database`,
   * `database_not_known`, `table_not_known`.
   */
  async forgetName(target: { readonly database: string; readonly table: string }): Promise<void> {
    if (target.database === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    await this.#changes.run(target.database, async () => {
      const present = this.#state.database(target.database)?.formerTables?.get(target.table);
      if (present === undefined) {
        const { database } = this.#find(target); // throws unless the name is in use
        const text = `'${target.table}' is the name of a table of ${database.name}, not a former name`;
        throw tsdbError('rename_invalid', text);
      }
      const { database, entry } = this.#find({ ...target, table: present });
      const { schema } = entry;
      const { formerNames: before = [], ...others } = schema;
      const formerNames = before.filter((name) => name !== target.table);
      await this.#make(database, entry, {
        after: {
          ...others,
          version: schema.version + 1,
          ...(formerNames.length > 0 && { formerNames }),
        },
        write: (tx) =>
          deleteFormerName(tx, { tableId: schema.id, columnId: 0, name: target.table }),
      });
    });
  }

  #assertIdle({ id, name }: TableSchema): void {
    if (this.#isBusy(id)) throw tsdbError('table_converting', { table: name });
  }

  async #make(
    database: DatabaseSchema,
    { schema, nextColumnId }: TableEntry,
    change: {
      readonly after: TableSchema;
      readonly write: (tx: Transaction<CatalogTables>) => Promise<void>;
      readonly applyCommitted?: () => void;
    },
  ): Promise<void> {
    const { after, write, applyCommitted } = change;
    const made = { before: schema, after: { schema: after, nextColumnId } };
    await this.#changes.commit([database.name], {
      runTransaction: () =>
        this.#store.transaction<CatalogTables, void>(async (tx) => {
          await write(tx);
          const { id, version } = after;
          await tx.updateTable('tsdb_tables').set({ version }).where('id', '=', id).execute();
        }),
      wasCommitted: () =>
        hasChange(this.#store.reader<CatalogTables>(), {
          ...{ createdMs: 0, newDatabase: undefined, tables: [made] },
        }),
      applyCommitted: () => {
        const present = this.#state.databaseById(database.id) ?? database;
        this.#state.showRenamed(present, schema.name, made.after);
        applyCommitted?.();
        this.#onRenamed(after);
      },
      abandon: () => undefined,
    });
  }

  #find(target: { readonly database: string; readonly table: string }): Found {
    if (target.database === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    const database = this.#state.database(target.database);
    if (database === undefined)
      throw tsdbError('database_not_known', { database: target.database });
    const schema = database.tables.get(target.table);
    const entry = schema && this.#state.table(schema.id);
    if (entry !== undefined) return { database, entry };
    throw tableNotKnown(database, target.table);
  }
}

/** Returns the next version of the table with the column renamed. */
function withColumnName(schema: TableSchema, column: Column, name: string): TableSchema {
  const before = column.name;
  const renamed: Column = {
    ...column,
    name,
    ...(column.kind === 'tag' && { storedTagName: storedTagNameOf(column) }),
  };
  const columns = [...schema.columns.values()].map((each) => (each === column ? renamed : each));
  const formerColumns = new Map(schema.formerColumns);
  for (const [former, present] of formerColumns)
    if (present === before) formerColumns.set(former, name);
  formerColumns.delete(name);
  formerColumns.set(before, name);
  return {
    ...schema,
    columns: byName(columns),
    seriesKey: schema.seriesKey.map((tag) => (tag === before ? name : tag)),
    formerColumns,
    version: schema.version + 1,
  };
}

function assertOther(what: 'table' | 'column', before: string, after: string): void {
  if (before !== after) return;
  throw tsdbError(
    'rename_invalid',
    `the ${what} already has the name '${after}'; use a different name`,
  );
}

/** Writes cannot use the name. Source: tsdb-http, "Line protocol grammar". */
function assertExpressible(name: string): void {
  if (/[\t\n]/.test(name)) throw notExpressible(name, 'contains a tab or newline');
  if (name.endsWith('\\')) throw notExpressible(name, 'ends with a backslash');
}

const notExpressible = (name: string, fault: string): Error =>
  tsdbError(
    'rename_invalid',
    `${JSON.stringify(name)} ${fault} and cannot be written in line protocol; use another name`,
  );

function assertRoom(count: number, what: string): void {
  if (count < MAX_FORMER_NAMES) return;
  const text = `${what} would have more than ${MAX_FORMER_NAMES} former names`;
  throw tsdbError('schema_limit_reached', text);
}
