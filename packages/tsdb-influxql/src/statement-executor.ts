import { assertNever, invariant } from '@plinth/kernel';
import type { CatalogView } from '@plinth/tsdb-catalog/access/catalog-view.js';
import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import type { ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import type { Engine } from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { SelectStatement } from './ast/select.js';
import type {
  ContinuousQueryStatement,
  ExplainStatement,
  ShowStatement,
  Statement,
  UserStatement,
} from './ast/statements.js';
import type { ContinuousQueryDirectory } from './continuous/continuous-query-directory.js';
import { runContinuous } from './continuous/run-continuous.js';
import { runSelect } from './execute/run-select.js';
import { runBlocks } from './execute/series/run-blocks.js';
import { LazyBlock, type SeriesBlock } from './execute/series/series.js';
import type { Session } from './execute/session.js';
import { explainSelect } from './explain-select.js';
import { compileSelect } from './plan/compile/compile-select.js';
import { type CompiledSelect, type OutputField, tablesOf } from './plan/compile/compiled-select.js';
import { expandSelect } from './plan/compile/expand-select.js';
import type { ParsedText } from './plan/compile/prepared-selects.js';
import { COLUMN_SLOTS } from './plan/compile/slots.js';
import type { DataType } from './plan/data-type.js';
import type { Environment } from './plan/environment.js';
import {
  EMPTY_RESULT,
  type ResultBlock,
  type ResultColumn,
  type StatementResult,
} from './result.js';
import type { ShownQuery } from './running-queries.js';
import { runSchema } from './schema/run-schema.js';
import { selectInto } from './schema/select-into.js';
import { runShow } from './show/run-show.js';
import type { ServerDiagnostics } from './show/show-server.js';
import { runUsers } from './users/run-users.js';
import type { UserDirectory } from './users/user-directory.js';

/** Targets of statements that change something. */
export interface Changes {
  readonly catalog: RelationalCatalog;
  readonly engine: Engine;
}

/** Server resources of statements other than table data. */
export interface ServerSide {
  readonly view: CatalogView;
  readonly users: UserDirectory | undefined;
  readonly continuousQueries: ContinuousQueryDirectory | undefined;
  readonly changes: Changes | undefined;
  readonly isReadOnly: boolean;
  readonly diagnostics: ServerDiagnostics | undefined;
  queries(): readonly ShownQuery[];
  kill(id: bigint): void;
}

/** Replacements to suggest for unsupported statements. */
const ALTERNATIVES: readonly (readonly [RegExp, string])[] = [
  [/SHARD/, 'segments replace shards; delete rows by time instead'],
  [/SUBSCRIPTION/, 'use a trigger of the processing engine instead'],
];

/** Runs the statements of one request. */
export class StatementExecutor {
  readonly #session: Session;
  readonly #env: Environment;
  readonly #parsed: ParsedText;
  readonly #server: ServerSide;

  constructor(session: Session, env: Environment, parsed: ParsedText, server: ServerSide) {
    this.#session = session;
    this.#env = env;
    this.#parsed = parsed;
    this.#server = server;
  }

  async execute(statement: Statement): Promise<StatementResult> {
    this.#env.effort.begin(statement);
    switch (statement.kind) {
      case 'select':
        return await this.#select(statement);
      case 'explain':
        return await this.#explain(statement);
      case 'show_databases':
      case 'show_retention_policies':
      case 'show_measurements':
      case 'show_tag_keys':
      case 'show_field_keys':
      case 'show_tag_values':
      case 'show_series':
      case 'show_cardinality':
      case 'show_queries':
      case 'show_shards':
      case 'show_nothing':
        return await this.#show(statement);
      case 'show_server':
        this.#requireAdministrator();
        return await this.#show(statement);
      case 'show_users':
      case 'show_grants':
      case 'create_user':
      case 'drop_user':
      case 'set_password':
      case 'set_administrator':
      case 'grant':
      case 'revoke':
        return await this.#users(statement);
      case 'create_continuous_query':
      case 'drop_continuous_query':
        this.#requireAdministrator();
        if (this.#server.isReadOnly) throw tsdbError('read_only_request');
        return await this.#continuous(statement);
      case 'show_continuous_queries':
        return await this.#continuous(statement);
      case 'kill_query':
        if (this.#server.isReadOnly) throw tsdbError('read_only_request');
        this.#server.kill(statement.id);
        return EMPTY_RESULT;
      case 'unsupported': {
        const advice = ALTERNATIVES.find(([pattern]) => pattern.test(statement.what))?.[1];
        throw tsdbError(
          'not_implemented',
          advice === undefined ? statement.what : `${statement.what}: ${advice}`,
        );
      }
      case 'create_database':
      case 'drop_database':
      case 'create_retention_policy':
      case 'alter_retention_policy':
      case 'drop_retention_policy':
      case 'drop_measurement':
      case 'delete':
      case 'drop_series':
        this.#requireAdministrator();
        await runSchema(statement, { env: this.#env, session: this.#session, ...this.#changes });
        return EMPTY_RESULT;
      default:
        return assertNever(statement);
    }
  }

  async #show(statement: ShowStatement): Promise<StatementResult> {
    return await runShow(statement, {
      env: this.#env,
      reading: {
        session: this.#session,
        task: new TimeSlicedTask(this.#session),
        comparesTextsOnly: this.#env.usesDefaultPolicies,
      },
      databases: () => this.#server.view.databases(),
      queries: () => this.#server.queries(),
      diagnostics: this.#server.diagnostics,
    });
  }

  async #users(statement: UserStatement): Promise<StatementResult> {
    this.#requireAdministrator();
    const { users, view, isReadOnly } = this.#server;
    const isChange = statement.kind !== 'show_users' && statement.kind !== 'show_grants';
    if (isChange && isReadOnly) throw tsdbError('read_only_request');
    if (users === undefined) throw tsdbError('not_implemented', 'users');
    return await runUsers(statement, users, (name) => view.database(name));
  }

  async #continuous(statement: ContinuousQueryStatement): Promise<StatementResult> {
    const { view, continuousQueries: directory } = this.#server;
    if (directory === undefined) throw tsdbError('not_implemented', 'continuous queries');
    return await runContinuous(statement, {
      ...{ env: this.#env, directory },
      databases: () => view.databases(),
      check: (select) => void this.#compile(select),
    });
  }

  /**
   * Statements that affect more than rows require an administrator; database permissions do not
   * suffice. Throws `not_permitted`.
   */
  #requireAdministrator(): void {
    if (!this.#server.view.access.isAdministrator) throw tsdbError('not_permitted');
  }

  /**
   * Returns the targets of statements that change something; all changes use it. Throws
   * `read_only_request`.
   */
  get #changes(): Changes {
    const { changes, isReadOnly } = this.#server;
    if (isReadOnly) throw tsdbError('read_only_request');
    invariant(changes !== undefined, 'requests that change data require a target');
    return changes;
  }

  #compile(statement: SelectStatement): CompiledSelect {
    return compileSelect(expandSelect(statement, this.#env), this.#env);
  }

  async #explain(statement: ExplainStatement): Promise<StatementResult> {
    const select = this.#compile(statement.select);
    await this.#session.indexed(tablesOf(select));
    return await explainSelect(statement, select, this.#session);
  }

  async #select(statement: SelectStatement): Promise<StatementResult> {
    const known = this.#parsed.compiled(this.#env);
    const select = known ?? this.#compile(statement);
    if (known === undefined) this.#parsed.remember(select);
    const indexing = this.#session.indexed(tablesOf(select));
    if (indexing !== undefined) await indexing;
    if (statement.into === undefined) return this.#compute(select);
    return await selectInto(statement.into, select, runSelect(select, this.#session), {
      engine: this.#changes.engine,
      view: this.#server.view,
      env: this.#env,
      nowNs: this.#session.nowNs,
      session: this.#session,
    });
  }

  #compute(select: CompiledSelect): StatementResult {
    return {
      columns: columnsOf(select),
      tagNames: select.groupTags,
      zone: select.zone,
      blocks: resultBlocks(runBlocks(select, this.#session)),
    };
  }
}

/** Caches the result columns, so that all statements of a cached template share one array. */
const COLUMNS = new WeakMap<CompiledSelect['fields'], readonly ResultColumn[]>();

function columnsOf(select: CompiledSelect): readonly ResultColumn[] {
  const known = COLUMNS.get(select.fields);
  if (known !== undefined) return known;
  const columns: readonly ResultColumn[] = [
    { name: select.timeName, type: 'time', tableColumnKind: 'time' },
    ...select.fields.map(
      (field): ResultColumn => ({
        name: field.name,
        type: field.type,
        tableColumnKind: tableColumnKindOf(field, select),
      }),
    ),
  ];
  COLUMNS.set(select.fields, columns);
  return columns;
}

async function* resultBlocks(
  blocks: AsyncIterable<SeriesBlock>,
): AsyncGenerator<ResultBlock, void, undefined> {
  for await (const block of blocks) yield resultBlock(block);
}

/** Adds the timestamps as the first column. */
function resultBlock(block: SeriesBlock): ResultBlock {
  const { name, spans, times, series, areSpansWhole } = block;
  const vectors = block.vectors && [{ values: times, validity: undefined }, ...block.vectors];
  const facts = { name, spans, times, series, areSpansWhole, vectors };
  return new LazyBlock(facts, () => [times, ...block.columns]);
}

/** Returns the measurement column behind a result field, or `undefined` for a computed field. */
function tableColumnKindOf({ expr }: OutputField, { sources, columns }: CompiledSelect) {
  if (expr.kind !== 'slot' || sources.some(({ kind }) => kind === 'subquery')) return undefined;
  const column = columns[expr.index - COLUMN_SLOTS];
  return column === undefined ? undefined : KIND_OF[column.isTag ? 'tag' : column.type];
}

const KIND_OF: Readonly<Record<DataType, ColumnKind | undefined>> = {
  float: 'float64',
  integer: 'int64',
  unsigned: 'uint64',
  string: 'utf8',
  boolean: 'bool',
  tag: 'tag',
  time: 'time',
  unknown: undefined,
};
