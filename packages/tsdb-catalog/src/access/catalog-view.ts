import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import { INTERNAL_DATABASE, isStagedName } from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { Catalog } from '../catalog.js';
import type { DeletedDatabase } from '../deletion/deleted-resources.js';

export type ViewedCatalog = Pick<Catalog, 'database' | 'databases' | 'deleted'>;

/**
 * The catalog with the permissions of one caller. Both query languages look up names here, so a
 * forbidden name is rejected wherever it occurs. The error does not reveal whether the database
 * exists.
 */
export class CatalogView {
  readonly #catalog: ViewedCatalog;
  readonly access: DatabaseAccess;

  constructor(catalog: ViewedCatalog, access: DatabaseAccess) {
    this.#catalog = catalog;
    this.access = access;
  }

  /** Looks up a database for reading. Throws `not_permitted`. */
  database(name: string): DatabaseSchema | undefined {
    if (!this.access.mayRead(name)) throw tsdbError('not_permitted');
    const found = this.#catalog.database(name);
    return found && this.#withoutStaged(found);
  }

  /** Looks up a database for writing. Throws `not_permitted`. */
  databaseToWrite(name: string): DatabaseSchema | undefined {
    if (!this.access.mayWrite(name)) throw tsdbError('not_permitted');
    return this.#catalog.database(name);
  }

  /** Active, readable databases by name. */
  databases(): readonly DatabaseSchema[] {
    const all = this.#catalog.databases();
    if (this.access.isAdministrator) return all;
    return all
      .filter(({ name }) => this.access.mayRead(name))
      .map((database) => this.#withoutStaged(database));
  }

  /** Deleted databases that were readable. */
  deletedDatabases(): readonly DeletedDatabase[] {
    const all = this.#catalog.deleted.databases();
    return all.filter(({ originalName }) => this.access.mayRead(originalName));
  }

  /** The internal database contains copies of tables that the caller may not be allowed to read. */
  #withoutStaged(database: DatabaseSchema): DatabaseSchema {
    if (database.name !== INTERNAL_DATABASE || this.access.isAdministrator) return database;
    const tables = [...database.tables].filter(([name]) => !isStagedName(name));
    return tables.length === database.tables.size
      ? database
      : { ...database, tables: new Map(tables) };
  }
}
