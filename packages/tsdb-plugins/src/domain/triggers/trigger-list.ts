import type { Catalog } from '@plinth/tsdb-catalog/catalog.js';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { Trigger } from '@plinth/tsdb-model/plugins/trigger.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { normalPath } from './running-triggers.js';

/** All triggers of the node, found by id, database, name or path. */
export class TriggerList {
  /** Changed only by `ProcessingEngine`, together with the records. */
  readonly byId = new Map<number, Trigger>();
  readonly #catalog: Catalog;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /**
   * Returns the triggers of one database; without an id, the triggers of all databases that are not deleted.
   */
  of(databaseId?: number): readonly Trigger[] {
    return [...this.byId.values()].filter((trigger) =>
      databaseId === undefined
        ? this.#catalog.databaseById(trigger.databaseId) !== undefined
        : trigger.databaseId === databaseId,
    );
  }

  /** Throws `trigger_not_found`, and the errors of `database`. */
  named(target: { readonly database: string; readonly name: string }): Trigger {
    const database = this.database(target.database);
    const found = this.of(database.id).find(({ name }) => name === target.name);
    if (found === undefined) throw tsdbError('trigger_not_found', { trigger: target.name });
    return found;
  }

  /**
   * Returns a database that can have triggers. Throws `internal_database_untriggered`,
   * `already_deleted`, `database_not_known`.
   */
  database(name: string): DatabaseSchema {
    if (name === INTERNAL_DATABASE) throw tsdbError('internal_database_untriggered');
    const database = this.#catalog.database(name);
    if (database !== undefined) return database;
    if (this.#catalog.deleted.database(name) !== undefined)
      throw tsdbError('already_deleted', { resource: name });
    throw tsdbError('database_not_known', { database: name });
  }

  /**
   * Returns the plugin of the first trigger with this name in any database. Throws
   * `plugin_of_trigger_not_found`.
   */
  pluginFilenameOf(triggerName: string): string {
    const found = this.of().find(({ name }) => name === triggerName);
    if (found === undefined)
      throw tsdbError('plugin_of_trigger_not_found', { trigger: triggerName });
    return found.pluginFilename;
  }

  /** Ensures that at most one enabled trigger has a request path. Throws `request_path_taken`. */
  assertFreePath({ id, specification }: Pick<Trigger, 'id' | 'specification'>): void {
    if (specification.kind !== 'request') return;
    const { path } = specification;
    const other = this.of().find(
      (each) =>
        each.id !== id &&
        !each.isDisabled &&
        each.specification.kind === 'request' &&
        normalPath(each.specification.path) === normalPath(path),
    );
    if (other !== undefined) throw tsdbError('request_path_taken', { path, trigger: other.name });
  }
}
