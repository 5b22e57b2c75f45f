import type { Clock, Random } from '@plinth/kernel';
import { TimeSlicedTask } from '../../model/time-sliced-task.js';
import { withoutPasswords } from '../../model/without-passwords.js';
import { CatalogView, type ViewedCatalog } from '../catalog/access/catalog-view.js';
import type { DatabaseAccess } from '../catalog/access/database-access.js';
import type { Engine } from '../engine/engine.js';
import { outcomeOf } from '../engine/query/query-outcome.js';
import type { QuerySession } from '../engine/query/query-session.js';
import type { QueryOutcome } from '../system-tables/logged-query.js';
import type { Answer, AnswerBlock } from './answer.js';
import { printStatement } from './ast/print.js';
import type { Statement } from './ast/statements.js';
import { checkNative } from './check-native.js';
import { runSelect } from './execute/run-select.js';
import type { SelectLimits, Session } from './execute/session.js';
import { boundTokens } from './parse/parse-parameter.js';
import { parseQuery } from './parse/parse-query.js';
import { PlanEffort } from './plan/compile/plan-effort.js';
import { PreparedSelects } from './plan/compile/prepared-selects.js';
import { loadRegexes } from './plan/condition/regex.js';
import type { Environment } from './plan/environment.js';
import { bindStatement, type Parameters } from './plan/reduce.js';
import { RunningQueries } from './running-queries.js';
import type { ServerFacts } from './show/show-server.js';
import { type Changes, StatementExecutor } from './statement-executor.js';
import type { UserDirectory } from './users/user-directory.js';

export interface InfluxqlRequest {
  readonly text: string;
  /** Of who asks. */
  readonly access: DatabaseAccess;
  /** For measurements that name none. */
  readonly database: string | undefined;
  readonly policy: string | undefined;
  readonly params: Parameters;
  /** Whether the client has left; looked at when something takes long. */
  readonly signal: AbortSignal;
  /** `native`: what the version-3 server refuses is refused; changes are for `/query`. */
  readonly dialect?: 'v1' | 'native';
  /** Statements that change something are refused. */
  readonly isReadOnly?: boolean;
  /** Of the server itself: not in the log of queries. */
  readonly isOwn?: boolean;
  /** Told of each statement that changes more than rows, when it is done or has failed; without passwords. */
  readonly onChange?: ((statement: string, error: unknown) => void) | undefined;
}

/** The statements of one request, to be run one after the other. `end` must be called once. */
export interface InfluxqlRun {
  readonly statements: readonly Statement[];
  /** The answer's rows must be taken before the next statement is run. */
  execute(index: number): Promise<Answer>;
  /** A statement's failure stands in the answer: what was handed out whole is no success then. */
  failed(error: unknown): void;
  end(outcome: QueryOutcome): void;
}

/** Shapes of statements that are remembered: a few kilobytes each. */
const MAX_PREPARED = 1000;

interface InfluxqlDeps {
  readonly catalog: ViewedCatalog;
  readonly engine: Pick<Engine, 'openSession'>;
  /** Without it nothing can be changed. */
  readonly changes: Changes | undefined;
  /** What the server can tell of itself. */
  readonly facts?: ServerFacts;
  /** Without it there are none. */
  readonly users?: UserDirectory | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: SelectLimits;
}

/** Answers InfluxQL over the engine. */
export class Influxql {
  readonly #needs: InfluxqlDeps;
  readonly #prepared = new PreparedSelects({ maxCount: MAX_PREPARED });
  readonly #running: RunningQueries;

  constructor(needs: InfluxqlDeps) {
    this.#needs = needs;
    this.#running = new RunningQueries(needs.clock);
  }

  /** Throws `ParseError`. */
  async open(request: InfluxqlRequest): Promise<InfluxqlRun> {
    // The native endpoints bind literals alone, as the real system's do.
    const bound = request.dialect === 'native' ? undefined : boundTokens(request.params);
    const read = this.#prepared.read(request.text, {
      scope: JSON.stringify([request.dialect, request.database, request.policy]),
      parse: (text) => parseQuery(text, bound),
    });
    const { statements } = read;
    await loadRegexes(request.text);
    if (request.dialect === 'native') checkNative(statements);
    const { access } = request;
    const view = new CatalogView(this.#needs.catalog, access);
    const text = withoutPasswords(request.text);
    const session = await this.#needs.engine.openSession({
      language: 'influxql',
      text,
      database: request.database,
      owner: access.owner,
      principal: access.principal,
      isOwn: request.isOwn === true,
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
        changes: this.#needs.changes,
        isReadOnly: request.isReadOnly === true,
        facts: this.#needs.facts,
        view,
        users: this.#needs.users,
        queries: () => this.#running.list(access),
        kill: (id) => this.#running.kill(id, access),
      },
    );
    const runner = new TimeSlicedTask(session);
    let failure: QueryOutcome | undefined;
    return {
      statements,
      execute: async (index) => {
        await runner.take(); // A request may have thousands of statements that take next to nothing each.
        const statement = statements[index] as Statement; // the caller counts along
        const bound = bindStatement(statement, request.params);
        if (request.onChange === undefined || !isChange(bound))
          return counted(await executor.execute(bound), session);
        const shownText = withoutPasswords(printStatement(bound));
        try {
          const answer = await executor.execute(bound);
          request.onChange(shownText, undefined);
          return counted(answer, session);
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

  #session(engine: QuerySession, dialect: 'v1' | 'native'): Session {
    const session: Session = {
      nowNs: engine.nowNs,
      get signal() {
        return engine.signal;
      },
      limits: this.#needs.limits,
      runsBackward: dialect !== 'native',
      read: (statement) => engine.read(statement),
      readInMemory: (inMemory) => engine.readInMemory(inMemory),
      lending: (items) => engine.lending(items),
      indexed: (tables) => engine.indexed(tables),
      seriesOf: (table) => engine.seriesOf(table),
      livenessOf: (table) => engine.livenessOf(table),
      select: (select) => runSelect(select, session),
      random: () => this.#needs.random.float(),
    };
    return session;
  }

  #environment(request: InfluxqlRequest, { nowNs }: QuerySession, view: CatalogView): Environment {
    return {
      nowNs,
      database: request.database,
      policy: request.policy,
      usesDefaultPolicies: request.dialect !== 'native',
      databaseOf: (name) => view.database(name),
      effort: new PlanEffort({
        mayHaveRegexes: /[/~]/.test(request.text) || request.params.size > 0,
      }),
    };
  }
}

/** The same rows, each block counted when it is taken. */
function counted(answer: Answer, session: QuerySession): Answer {
  return { ...answer, blocks: countedBlocks(answer.blocks, session) };
}

async function* countedBlocks(
  blocks: Answer['blocks'],
  session: QuerySession,
): AsyncGenerator<AnswerBlock, void, undefined> {
  for await (const block of blocks) {
    for (const { from, to } of block.spans) session.returned(to - from);
    yield block;
  }
}

/** Statements about databases, users and the like, and those that take rows away. */
const isChange = ({ kind }: Statement): boolean =>
  !/^(?:select|explain|show_.*|unsupported)$/.test(kind);
