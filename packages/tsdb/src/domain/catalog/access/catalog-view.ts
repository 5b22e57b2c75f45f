import { tsdbError } from '../../../errors.js';
import type { DatabaseSchema } from '../../../model/schema.js';
import type { Catalog } from '../catalog.js';
import type { DeletedDatabase } from '../deletion/deleted-resources.js';
import type { DatabaseAccess } from './database-access.js';

export type ViewedCatalog = Pick<Catalog, 'database' | 'databases' | 'deleted'>;

/**
 * The catalog as somebody may see it: names are looked up here, whatever language they were written in, so that a name that
 * they may not touch is refused wherever it stands. Whether there is such a database is not told.
 */
export class CatalogView {
  readonly #catalog: ViewedCatalog;
  readonly access: DatabaseAccess;

  constructor(catalog: ViewedCatalog, access: DatabaseAccess) {
    this.#catalog = catalog;
    this.access = access;
  }

  /** To be read. Throws `not_permitted`. */
  database(name: string): DatabaseSchema | undefined {
    if (!this.access.mayRead(name)) throw tsdbError('not_permitted');
    return this.#catalog.database(name);
  }

  /** To be written to. Throws `not_permitted`. */
  databaseToWrite(name: string): DatabaseSchema | undefined {
    if (!this.access.mayWrite(name)) throw tsdbError('not_permitted');
    return this.#catalog.database(name);
  }

  /** Active ones that may be read, by name. */
  databases(): readonly DatabaseSchema[] {
    const all = this.#catalog.databases();
    return this.access.isAdministrator ? all : all.filter(({ name }) => this.access.mayRead(name));
  }

  /** Deleted ones that could be read. */
  deletedDatabases(): readonly DeletedDatabase[] {
    const all = this.#catalog.deleted.databases();
    return all.filter(({ originalName }) => this.access.mayRead(originalName));
  }
}
