import { type CatalogLimits, WRITER_SHARE } from '@plinth/tsdb-model/database/limits.js';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { runThrough, type Steps, TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Catalog, ValidationResult } from '../catalog.js';
import type { CatalogState } from '../catalog-state.js';
import type { CatalogChanges } from '../records/catalog-changes.js';
import { TablesWithUnknownTags } from '../records/tables-with-unknown-tags.js';
import type { CatalogGrowth } from '../schema/catalog-growth.js';
import { hasTagsOfNewSeries, validateKnown } from './check-known.js';
import { type CheckedTable, checkCount, checkRows, MAX_SYNC_CHECKS } from './check-rows.js';
import { hasIntegers, integersAsFloats } from './integers-as-floats.js';

export type ValidationRequest = Parameters<Catalog['validate']>[0];

/**
 * Checks parsed rows against the schema and creates missing databases, tables and columns; see
 * `Catalog.validate` for the guarantees.
 */
export class SchemaValidation {
  readonly #state: CatalogState;
  readonly #growth: CatalogGrowth;
  readonly #limits: CatalogLimits;
  readonly #changes: CatalogChanges;
  readonly #tablesWithUnknownTags = new TablesWithUnknownTags();

  constructor(deps: {
    readonly state: CatalogState;
    readonly growth: CatalogGrowth;
    readonly limits: CatalogLimits;
    /** Serializes the changes to each database. */
    readonly changes: CatalogChanges;
  }) {
    this.#state = deps.state;
    this.#growth = deps.growth;
    this.#limits = deps.limits;
    this.#changes = deps.changes;
  }

  validate(request: ValidationRequest): ValidationResult | Promise<ValidationResult> {
    if (request.database === INTERNAL_DATABASE && request.isInternal !== true) {
      throw tsdbError('internal_database', 'modify');
    }
    if (
      this.#state.integerFieldsOf(request.database) === 'float' &&
      request.tables.some(hasIntegers)
    ) {
      return this.#changes.run(request.database, () => this.#validateAsFloats(request));
    }
    if (this.#changes.isBusy(request.database)) {
      // The columns of tag sets that the parser already knows may still be in the queued change.
      const validation = this.#validateKnown(request, true);
      if (validation !== undefined) return validation;
    }
    return this.#changes.run(request.database, () => this.#validateChecked(request));
  }

  #validateChecked(request: ValidationRequest): ValidationResult | Promise<ValidationResult> {
    return this.#validateKnown(request, false) ?? this.#validateInSteps(request);
  }

  /** The caller holds the queue of the database, so no column is created in the meantime. */
  #validateAsFloats(request: ValidationRequest): ValidationResult | Promise<ValidationResult> {
    const steps = integersAsFloats(request.tables, this.#state.database(request.database));
    const validated = (tables: ValidationRequest['tables']) =>
      this.#validateChecked({ ...request, tables });
    if (totalCheckCount(request) < MAX_SYNC_CHECKS) return validated(runThrough(steps));
    return new TimeSlicedTask().run(steps).then(validated);
  }

  #validateKnown(request: ValidationRequest, isChanging: boolean): ValidationResult | undefined {
    const database = this.#state.database(request.database);
    if (database === undefined) return undefined;
    const hasUnknownTags = (table: string) =>
      isChanging || this.#tablesWithUnknownTags.has(database.name, table);
    const tables = validateKnown(database, request.tables, request.seriesOf, hasUnknownTags);
    return tables === undefined ? undefined : { database, tables };
  }

  /** Checks few rows synchronously. For many rows, it yields to the event loop between steps. */
  #validateInSteps(request: ValidationRequest): ValidationResult | Promise<ValidationResult> {
    const steps = this.#validateByRow(request);
    if (totalCheckCount(request) < MAX_SYNC_CHECKS) return runThrough(steps);
    return new TimeSlicedTask().run(steps).then((result) => result); // awaits a result that is a promise
  }

  *#validateByRow(request: ValidationRequest): Steps<ValidationResult | Promise<ValidationResult>> {
    const database = this.#state.database(request.database);
    if (database === undefined) this.#state.assertNotDeleted(request.database);
    const checked = yield* checkRows({
      database,
      isDeleted: (table) =>
        database !== undefined && this.#state.deleted.table(database.id, table) !== undefined,
      tables: request.tables,
      seriesOf: request.seriesOf,
      limits: this.#limits,
      tableRoom: () => this.#tableRoom(request),
    });
    const hasRefusals =
      request.alreadyRefused.length > 0 || checked.some((table) => table.refusals.length > 0);
    if (request.allOrNothing && hasRefusals) return this.#toResult(request, checked, database);
    const drafts = checked
      .filter((table) => table.mayExist && table.draft.hasChanges)
      .map((table) => table.draft);
    if (database !== undefined && drafts.length === 0) {
      return this.#toResult(request, checked, database);
    }
    const { isLimited } = request;
    return this.#growth.change(request.database, undefined, drafts, { isLimited }).then(
      (after) => this.#toResult(request, checked, after),
      (error: unknown) => {
        this.#toResult(request, checked, database);
        throw error;
      },
    );
  }

  /**
   * The smaller of the limits for all databases and, unless the writer is an administrator, for the
   * database of the write.
   */
  #tableRoom({ database, isLimited = false }: ValidationRequest) {
    const { tableCount } = this.#state;
    const { tableCount: limit } = this.#limits;
    if (!isLimited) return { tableCount, limit };
    const ofAllDatabases = { tableCount, limit: Math.floor(limit * WRITER_SHARE.all) };
    const ofDatabase = {
      tableCount: this.#state.tableCountOf(database),
      limit: Math.floor(limit * WRITER_SHARE.tablesOfDatabase),
    };
    return ofDatabase.limit - ofDatabase.tableCount <
      ofAllDatabases.limit - ofAllDatabases.tableCount
      ? ofDatabase
      : ofAllDatabases;
  }

  /** Also records the tag sets that the parser has registered but the schema does not contain. */
  #toResult(
    request: ValidationRequest,
    checked: readonly CheckedTable[],
    database: DatabaseSchema | undefined,
  ): ValidationResult {
    const tables = checked.map(({ parsed, refusals }) => {
      const schema = database?.tables.get(parsed.table);
      if (schema === undefined || !hasTagsOfNewSeries(schema, parsed)) {
        this.#tablesWithUnknownTags.add(request.database, parsed.table);
      }
      return { parsed, schema, refusals };
    });
    return { database, tables };
  }

  /**
   * Parsers may have registered tag sets of these tables that a later table with the same name does not contain.
   */
  onTablesDeleted(tables: readonly { readonly database: string; readonly table: string }[]): void {
    for (const { database, table } of tables) this.#tablesWithUnknownTags.add(database, table);
  }
}

const totalCheckCount = ({ tables }: ValidationRequest): number =>
  tables.reduce((sum, table) => sum + checkCount(table), 0);
