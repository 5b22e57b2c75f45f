import type { Clock, Random } from '@plinth/kernel';
import { CatalogView, type ViewedCatalog } from '@plinth/tsdb-catalog/access/catalog-view.js';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import type { Engine } from '@plinth/tsdb-model/engine.js';
import type { QueryOutcome } from '@plinth/tsdb-model/query/query-outcome.js';
import { outcomeOf } from '@plinth/tsdb-model/query/query-outcome.js';
import type { QuerySession } from '@plinth/tsdb-model/query/query-session.js';
import { withoutPasswords } from '@plinth/tsdb-model/text/without-passwords.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import { printStatement } from './ast/print.js';
import type { Statement } from './ast/statements.js';
import { checkNative } from './check-native.js';
import type { ContinuousQueryDirectory } from './continuous/continuous-query-directory.js';
import { runSelect } from './execute/run-select.js';
import type { SelectLimits, Session } from './execute/session.js';
import { boundTokens } from './parse/parse-parameter.js';
import { parseQuery } from './parse/parse-query.js';
import { PlanEffort } from './plan/compile/plan-effort.js';
import { PreparedSelects } from './plan/compile/prepared-selects.js';
import { loadRegexes } from './plan/condition/regex.js';
import type { Environment } from './plan/environment.js';
import { bindStatement, type Parameters } from './plan/reduce.js';
import type { ResultBlock, StatementResult } from './result.js';
import { RunningQueries } from './running-queries.js';
import type { ServerDiagnostics } from './show/show-server.js';
import { type Changes, StatementExecutor } from './statement-executor.js';
import type { UserDirectory } from './users/user-directory.js';

export interface InfluxqlRequest {
  readonly text: string;
  /** Database permissions of the client. */
  readonly access: DatabaseAccess;
  /** Default database of unqualified measurements. */
  readonly database: string | undefined;
  readonly policy: string | undefined;
  readonly params: Parameters;
  /** Aborted when the client disconnects; checked during long work. */
  readonly signal: AbortSignal;
  /**
   * `native` supports only the statements of InfluxDB 3. Statements that change something need
   * `v1`.
   */
  readonly dialect?: 'v1' | 'native';
  /** Rejects statements that change something. */
  readonly isReadOnly?: boolean;
  /** A query by the server itself, which is not recorded in the query log. */
  readonly isInternal?: boolean;
  /**
   * Called after each statement that changes more than rows, on success and on failure. Passwords
   * are removed from `statement`.
   */
  readonly onChange?: ((statement: string, error: unknown) => void) | undefined;
}

/** The statements of one request, to be executed in order. `end` must be called exactly once. */
export interface InfluxqlRun {
  readonly statements: readonly Statement[];
  /** Consume all rows of the result before executing the next statement. */
  execute(index: number): Promise<StatementResult>;
  /**
   * Records a failure that was reported within a complete response, so that `end` does not log
   * success.
   */
  failed(error: unknown): void;
  end(outcome: QueryOutcome): void;
}

/** Maximum number of cached statement shapes, of a few kilobytes each. */
const MAX_PREPARED = 1000;

interface InfluxqlDeps {
  readonly catalog: ViewedCatalog;
  readonly engine: Pick<Engine, 'openSession'>;
  /** Without it, statements that change something are rejected. */
  readonly changes: Changes | undefined;
  /** Source of SHOW STATS and SHOW DIAGNOSTICS. */
  readonly diagnostics?: ServerDiagnostics;
  /** If absent, statements about users throw `not_implemented`. */
  readonly users?: UserDirectory | undefined;
  /** If absent, statements about continuous queries throw `not_implemented`. */
  readonly continuousQueries?: ContinuousQueryDirectory | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: SelectLimits;
  /** Look-back of statements without a hint. */
  readonly lookbackNs: bigint;
}

/** Runs InfluxQL requests against the storage engine. */
export class Influxql {
  readonly #deps: InfluxqlDeps;
  readonly #prepared = new PreparedSelects({ maxCount: MAX_PREPARED });
  readonly #running: RunningQueries;

  constructor(deps: InfluxqlDeps) {
    this.#deps = deps;
    this.#running = new RunningQueries(deps.clock);
  }

  /** Parses the statements of a request. Throws `ParseError`. */
  async open(request: InfluxqlRequest): Promise<InfluxqlRun> {
    // The native endpoints bind parameters only as literals, as InfluxDB does.
    const bound = request.dialect === 'native' ? undefined : boundTokens(request.params);
    const read = this.#prepared.read(request.text, {
      scope: JSON.stringify([request.dialect, request.database, request.policy]),
      parse: (text) => parseQuery(text, bound),
    });
    const { statements } = read;
    await loadRegexes(request.text);
    if (request.dialect === 'native') checkNative(statements);
    const { access } = request;
    const view = new CatalogView(this.#deps.catalog, access);
    const text = withoutPasswords(request.text);
    const session = await this.#deps.engine.openSession({
      language: 'influxql',
      text,
      database: request.database,
      owner: access.owner,
      principal: access.principal,
      isInternal: request.isInternal === true,
      get signal() {
        return request.signal;
      },
    });
    const forget = this.#running.add({
      text,
      owner: access.owner,
      database: request.database ?? '',
      kill: () => session.cancel(),
    });
    const executor = new StatementExecutor(
      this.#session(session, request.dialect ?? 'v1'),
      this.#environment(request, session, view),
      read,
      {
        changes: this.#deps.changes,
        isReadOnly: request.isReadOnly === true,
        diagnostics: this.#deps.diagnostics,
        view,
        users: this.#deps.users,
        continuousQueries: this.#deps.continuousQueries,
        queries: () => this.#running.list(access),
        kill: (id) => this.#running.kill(id, access),
      },
    );
    const task = new TimeSlicedTask(session);
    let failure: QueryOutcome | undefined;
    return {
      statements,
      execute: async (index) => {
        await task.yieldIfDue(); // A request may have thousands of very short statements.
        const statement = statements[index] as Statement; // the caller passes a valid index
        const bound = bindStatement(statement, request.params);
        if (request.onChange === undefined || !isChange(bound))
          return counted(await executor.execute(bound), session);
        const shownText = withoutPasswords(printStatement(bound));
        try {
          const result = await executor.execute(bound);
          request.onChange(shownText, undefined);
          return counted(result, session);
        } catch (error) {
          request.onChange(shownText, error);
          throw error;
        }
      },
      failed(error) {
        failure ??= outcomeOf(error);
      },
      end: (outcome) => {
        forget();
        session.end(outcome === 'success' ? (failure ?? outcome) : outcome);
      },
    };
  }

  #session(queries: QuerySession, dialect: 'v1' | 'native'): Session {
    const session: Session = {
      nowNs: queries.nowNs,
      get signal() {
        return queries.signal;
      },
      limits: this.#deps.limits,
      runsBackward: dialect !== 'native',
      read: (statement) => queries.read(statement),
      readFromColumns: (columnQuery) => queries.readFromColumns(columnQuery),
      yieldingSlot: (items) => queries.yieldingSlot(items),
      indexed: (tables) => queries.indexed(tables),
      seriesOf: (table) => queries.seriesOf(table),
      livenessOf: (table) => queries.livenessOf(table),
      select: (select) => runSelect(select, session),
      random: () => this.#deps.random.float(),
    };
    return session;
  }

  #environment(request: InfluxqlRequest, { nowNs }: QuerySession, view: CatalogView): Environment {
    return {
      nowNs,
      database: request.database,
      policy: request.policy,
      lookbackNs: this.#deps.lookbackNs,
      usesDefaultPolicies: request.dialect !== 'native',
      databaseOf: (name) => view.database(name),
      effort: new PlanEffort({
        mayHaveRegexes: /[/~]/.test(request.text) || request.params.size > 0,
      }),
    };
  }
}

/** Counts the rows of each block as it is consumed. */
function counted(result: StatementResult, session: QuerySession): StatementResult {
  return { ...result, blocks: countedBlocks(result.blocks, session) };
}

async function* countedBlocks(
  blocks: StatementResult['blocks'],
  session: QuerySession,
): AsyncGenerator<ResultBlock, void, undefined> {
  for await (const block of blocks) {
    for (const { from, to } of block.spans) session.returned(to - from);
    yield block;
  }
}

/** Returns whether a statement changes metadata, such as databases and users, or deletes rows. */
const isChange = ({ kind }: Statement): boolean =>
  !/^(?:select|explain|show_.*|unsupported)$/.test(kind);
