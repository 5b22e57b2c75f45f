import { assertNever, type Clock, invariant, type Random } from '@plinth/kernel';
import { NotImplemented, PlanError, QueryCancelled } from '../../errors.js';
import type { ColumnKind } from '../../model/column.js';
import { StepRunner } from '../../model/steps.js';
import type { RelationalCatalog } from '../catalog/relational-catalog.js';
import type { Engine } from '../engine/engine.js';
import type { QuerySession } from '../engine/query-session.js';
import {
  type Answer,
  type AnswerBlock,
  type AnswerColumn,
  type AnswerSeries,
  EMPTY_ANSWER,
  listAnswer,
} from './answer.js';
import { printSelect } from './ast/print.js';
import type { SelectStatement } from './ast/select-statement.js';
import type { Statement } from './ast/statement.js';
import { checkNative } from './check-native.js';
import { runBlocks } from './execute/run-blocks.js';
import { runSelect } from './execute/run-select.js';
import { LazyBlock } from './execute/series.js';
import type { SelectLimits, Session } from './execute/session.js';
import { boundTokens } from './parse/parse-parameter.js';
import { parseQuery } from './parse/parse-query.js';
import { COLUMN_SLOTS, compileSelect } from './plan/compile-select.js';
import type { CompiledSelect, OutputField } from './plan/compiled-select.js';
import type { DataType } from './plan/data-type.js';
import type { Environment } from './plan/environment.js';
import { expandSelect } from './plan/expand-select.js';
import { PlanEffort } from './plan/plan-effort.js';
import { PreparedSelects, type ReadText } from './plan/prepared-selects.js';
import { bindStatement, type Parameters } from './plan/reduce.js';
import { loadRegexes } from './plan/regex.js';
import { runSchema } from './schema/run-schema.js';
import { selectInto } from './schema/select-into.js';
import { runShow } from './show/run-show.js';

export interface InfluxqlRequest {
  readonly text: string;
  /** For measurements that name none. */
  readonly database: string | undefined;
  readonly policy: string | undefined;
  readonly params: Parameters;
  readonly signal: AbortSignal;
  /** `native`: what the version-3 server refuses is refused; changes are for `/query`. */
  readonly dialect?: 'v1' | 'native';
}

/** The statements of one request, to be run one after the other. `end` must be called once. */
export interface InfluxqlRun {
  readonly statements: readonly Statement[];
  /** The answer's rows must be taken before the next statement is run. */
  execute(index: number): Promise<Answer>;
  end(outcome: 'success' | 'fail' | 'cancel'): void;
}

interface RunningQuery {
  readonly id: number;
  readonly text: string;
  readonly database: string;
  readonly startMs: number;
  readonly controller: AbortController;
}

/** Shapes of statements that are remembered: a few kilobytes each. */
const MAX_PREPARED = 1000;

/** Answers InfluxQL over the engine. */
export class Influxql {
  readonly #catalog: Databases;
  readonly #engine: Pick<Engine, 'openSession'>;
  readonly #changes: Changes | undefined;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #limits: SelectLimits;
  readonly #prepared = new PreparedSelects({ maxCount: MAX_PREPARED });
  readonly #running = new Map<number, RunningQuery>();
  #lastId = 0;

  constructor(options: {
    readonly catalog: Databases;
    readonly engine: Pick<Engine, 'openSession'>;
    /** Without it nothing can be changed. */
    readonly changes: Changes | undefined;
    readonly clock: Clock;
    readonly random: Random;
    readonly limits: SelectLimits;
  }) {
    this.#catalog = options.catalog;
    this.#engine = options.engine;
    this.#changes = options.changes;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#limits = options.limits;
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
    const controller = new AbortController();
    const abort = (): void => controller.abort(new QueryCancelled());
    if (request.signal.aborted) abort();
    request.signal.addEventListener('abort', abort, { once: true });
    const { signal } = controller;
    const session = await this.#engine.openSession({
      language: 'influxql',
      text: request.text,
      signal,
    });
    const id = ++this.#lastId;
    this.#running.set(id, {
      id,
      text: request.text,
      database: request.database ?? '',
      startMs: this.#clock.monotonicMs(),
      controller,
    });
    const executor = new Executor(
      this.#session(session, session.signal, request.dialect ?? 'v1'),
      this.#environment(request, session),
      read,
      {
        changes: this.#changes,
        databases: () => this.#catalog.databases(),
        queries: () => this.#queries(),
        kill: (queryId) => this.#kill(queryId),
      },
    );
    const runner = new StepRunner(session.signal);
    return {
      statements,
      execute: async (index) => {
        await runner.take(); // A request may have thousands of statements that take next to nothing each.
        const statement = statements[index] as Statement; // the caller counts along
        return await executor.execute(bindStatement(statement, request.params));
      },
      end: (outcome) => {
        request.signal.removeEventListener('abort', abort);
        this.#running.delete(id);
        session.end(outcome);
      },
    };
  }

  #session(engine: QuerySession, signal: AbortSignal, dialect: 'v1' | 'native'): Session {
    const session: Session = {
      nowNs: engine.nowNs,
      signal,
      limits: this.#limits,
      runsBackward: dialect !== 'native',
      read: (statement) => engine.read(statement),
      readDirectly: (direct) => engine.readDirectly(direct),
      lending: (items) => engine.lending(items),
      seriesOf: (table) => engine.seriesOf(table),
      livenessOf: (table) => engine.livenessOf(table),
      select: (select) => runSelect(select, session),
      random: () => this.#random.float(),
    };
    return session;
  }

  #environment(request: InfluxqlRequest, { nowNs }: QuerySession): Environment {
    return {
      nowNs,
      database: request.database,
      policy: request.policy,
      usesDefaultPolicies: request.dialect !== 'native',
      databaseOf: (name) => this.#catalog.database(name),
      effort: new PlanEffort({
        mayHaveRegexes: /[/~]/.test(request.text) || request.params.size > 0,
      }),
    };
  }

  #queries() {
    const nowMs = this.#clock.monotonicMs();
    return [...this.#running.values()].map(({ id, text, database, startMs }) => ({
      id,
      text,
      database,
      durationMs: nowMs - startMs,
    }));
  }

  #kill(id: bigint): void {
    const query = this.#running.get(Number(id));
    if (query === undefined) throw new PlanError(`no such query id: ${id}`);
    query.controller.abort(new QueryCancelled());
  }
}

type Databases = Pick<RelationalCatalog, 'database' | 'databases'>;

/** What statements change. */
export interface Changes {
  readonly catalog: RelationalCatalog;
  readonly engine: Engine;
}

interface ServerSide {
  readonly changes: Changes | undefined;
  databases(): ReturnType<RelationalCatalog['databases']>;
  queries(): readonly {
    readonly id: number;
    readonly text: string;
    readonly database: string;
    readonly durationMs: number;
  }[];
  kill(id: bigint): void;
}

/** What stands in the way of statements that this server does not have, and what to do instead. */
const ALTERNATIVES: readonly (readonly [RegExp, string])[] = [
  [/CONTINUOUS/, 'use a trigger of the processing engine instead'],
  [/USER|GRANT|REVOKE|PASSWORD/, 'tokens take the place of users: see plinth token'],
  [/SHARD/, 'segments take the place of shards: see system.parquet_files'],
  [/SUBSCRIPTION/, 'use a trigger of the processing engine instead'],
  [/STATS|DIAGNOSTICS/, 'see /metrics and the tables of the schema system'],
];

class Executor {
  readonly #session: Session;
  readonly #env: Environment;
  readonly #read: ReadText;
  readonly #server: ServerSide;

  constructor(session: Session, env: Environment, read: ReadText, server: ServerSide) {
    this.#session = session;
    this.#env = env;
    this.#read = read;
    this.#server = server;
  }

  async execute(statement: Statement): Promise<Answer> {
    this.#env.effort.begin(statement);
    switch (statement.kind) {
      case 'select':
        return await this.#select(statement);
      case 'explain':
        return await this.#explain(statement.select, statement.analyze);
      case 'show_databases':
      case 'show_retention_policies':
      case 'show_measurements':
      case 'show_tag_keys':
      case 'show_field_keys':
      case 'show_tag_values':
      case 'show_series':
      case 'show_cardinality':
      case 'show_queries':
      case 'show_nothing':
        return await runShow(statement, {
          env: this.#env,
          session: this.#session,
          databases: () => this.#server.databases(),
          queries: () => this.#server.queries(),
        });
      case 'kill_query':
        this.#server.kill(statement.id);
        return EMPTY_ANSWER;
      case 'unsupported': {
        const advice = ALTERNATIVES.find(([pattern]) => pattern.test(statement.what))?.[1];
        throw new NotImplemented(
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
        await runSchema(statement, { env: this.#env, session: this.#session, ...this.#changes });
        return EMPTY_ANSWER;
      default:
        return assertNever(statement);
    }
  }

  get #changes(): Changes {
    const { changes } = this.#server;
    invariant(changes !== undefined, 'this place changes nothing');
    return changes;
  }

  #compile(statement: SelectStatement): CompiledSelect {
    return compileSelect(expandSelect(statement, this.#env), this.#env);
  }

  async #select(statement: SelectStatement): Promise<Answer> {
    const known = this.#read.compiled(this.#env);
    const select = known ?? this.#compile(statement);
    if (known === undefined) this.#read.remember(select);
    if (statement.into === undefined) return this.#answer(select);
    return await selectInto(statement.into, select, runSelect(select, this.#session), {
      engine: this.#changes.engine,
      env: this.#env,
      nowNs: this.#session.nowNs,
      heldValueCount: this.#session.limits.heldValueCount,
    });
  }

  #answer(select: CompiledSelect): Answer {
    const columns: AnswerColumn[] = [
      { name: select.timeName, type: 'time', source: 'time' },
      ...select.fields.map((field) => ({
        name: field.name,
        type: field.type,
        source: sourceOf(field, select),
      })),
    ];
    return {
      columns,
      tagNames: select.groupTags,
      zone: select.zone,
      series: this.#series(select),
      blocks: this.#blocks(select),
    };
  }

  async *#blocks(select: CompiledSelect): AsyncGenerator<AnswerBlock, void, undefined> {
    for await (const block of runBlocks(select, this.#session)) {
      const { name, spans, times, series, areSpansWhole } = block;
      const vectors = block.vectors && [undefined, ...block.vectors];
      const facts = { name, spans, times, series, areSpansWhole, vectors };
      yield new LazyBlock(facts, () => [times, ...block.columns]);
    }
  }

  async *#series(select: CompiledSelect): AsyncGenerator<AnswerSeries, void, undefined> {
    for await (const { name, tags, times, columns } of runSelect(select, this.#session)) {
      yield { name, tags, rowCount: times.length, columns: [times, ...columns] };
    }
  }

  /** The statement as it is run, and how long each of its questions to the engine is. */
  async #explain(statement: SelectStatement, isAnalyzed: boolean): Promise<Answer> {
    const lines: string[] = [];
    const session: Session = {
      ...this.#session,
      select: (select) => runSelect(select, session),
      read: (engineStatement) => {
        const scans = engineStatement.scans.map(
          ({ table, columns, tagConditions }) =>
            `scan ${table.name} columns=[${columns.join(', ')}] tags=[${tagConditions.map(({ tag, values }) => `${tag} in ${values.length}`).join(', ')}]`,
        );
        lines.push(
          ...scans,
          engineStatement.render((index) => `scan_${index}`),
        );
        return this.#session.read(engineStatement);
      },
    };
    const select = this.#compile(statement);
    const isDry: Session = isAnalyzed
      ? session
      : {
          ...session,
          select: (inner) => runSelect(inner, isDry),
          read: (each) => skipped(session.read(each)),
        };
    let rowCount = 0;
    let seriesCount = 0;
    for await (const { times } of runSelect(select, isDry)) {
      rowCount += times.length;
      seriesCount++;
    }
    const plan = lines.join('\n');
    const rows = isAnalyzed
      ? [['Plan with Metrics', `${plan}\nseries=${seriesCount} rows=${rowCount}`]]
      : [
          ['logical_plan', printSelect(statement)],
          ['physical_plan', plan],
        ];
    const text = (name: string): AnswerColumn => ({ name, type: 'string' });
    return listAnswer([text('plan_type'), text('plan')], [{ name: 'plan', rows }]);
  }
}

/** What a field of the answer is in its measurement, unless something is computed of it. */
function sourceOf({ expr }: OutputField, { sources, columns }: CompiledSelect) {
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

/** Nothing of what would be read. */
async function* skipped<T>(_items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  // An EXPLAIN asks the engine nothing.
}
