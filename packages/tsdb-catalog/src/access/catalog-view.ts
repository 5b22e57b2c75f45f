import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
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
    return this.#catalog.database(name);
  }

  /** Looks up a database for writing. Throws `not_permitted`. */
  databaseToWrite(name: string): DatabaseSchema | undefined {
    if (!this.access.mayWrite(name)) throw tsdbError('not_permitted');
    return this.#catalog.database(name);
  }

  /** Active, readable databases by name. */
  databases(): readonly DatabaseSchema[] {
    const all = this.#catalog.databases();
    return this.access.isAdministrator ? all : all.filter(({ name }) => this.access.mayRead(name));
  }

  /** Deleted databases that were readable. */
  deletedDatabases(): readonly DeletedDatabase[] {
    const all = this.#catalog.deleted.databases();
    return all.filter(({ originalName }) => this.access.mayRead(originalName));
  }
}
