import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { PlanContext, PlannedQuery } from '@plinth/tsdb-model/query/planned-query.js';
import { bindExpr } from './bind/expr/bind-expr.js';
import { columnOf } from './bind/expr/columns.js';
import type { ColumnQueryTemplate, Lookback, Session } from './bind/session.js';
import { UTF8 } from './bind/types/bound.js';
import { MacroWeights } from './emit/macro-weights.js';
import { splitAtScanMarks } from './emit/quote.js';
import { StringBudget, withResultSizeLimit } from './emit/string-budget.js';
import { ALL_FUNCTIONS, DUCKDB_MACROS } from './functions/index.js';
import { FunctionRegistry } from './functions/registry.js';
import { bindGapFillCall } from './gap-fill/filled-values.js';
import { lookbackOf } from './gap-fill/look-back.js';
import { ParameterTypes } from './parameter-types.js';
import type { Statement } from './parse/ast.js';
import { StatementParser } from './parse/parse-statement.js';
import { PlanningLimitExceeded, type PlanningLimits } from './parse/planning-limits.js';
import { bindQuery } from './plan/query.js';
import { bindStatement } from './plan/statement.js';
import { type Lazy, type QueryTree, unverified } from './plan-tree.js';

/** DuckDB's EXPLAIN has two text columns. */
const PLAN_COLUMNS = ['plan_type', 'plan'].map((name) => ({
  name,
  type: UTF8,
  tableColumnKind: undefined,
}));

/** Maximum number of macro expansions, which take DuckDB about a second. */
const MAX_MACROS = 1500;
/**
 * Maximum characters of DuckDB SQL per bound expression; some expressions are repeated in the text
 * around them.
 */
const TEXT_PER_BOUND = 64;

/** A plan as plain data that can be sent between threads. */
export interface SerializedPlan extends Omit<PlannedQuery, 'render' | 'columnQuery'> {
  /** DuckDB SQL; each odd piece is a scan index, which is replaced by the text of the scan. */
  readonly pieces: readonly string[];
}

/**
 * Plans one SQL statement in the current thread: parses, binds and prints it for DuckDB. `SqlPlanner` selects the thread and
 * caches column queries.
 */
export class StatementPlanner {
  readonly #parser: StatementParser;
  readonly #functions = new FunctionRegistry(ALL_FUNCTIONS);
  readonly #macros = new MacroWeights(DUCKDB_MACROS);

  private constructor(parser: StatementParser) {
    this.#parser = parser;
  }

  static async load(options: { readonly maxCachedCount: number }): Promise<StatementPlanner> {
    return new StatementPlanner(await StatementParser.load(options));
  }

  /**
   * Throws `plan_error` and `not_implemented`, whose messages clients see, and `PlanningLimitExceeded`.
   */
  plan(
    source: string,
    context: PlanContext,
    limits: PlanningLimits,
  ): {
    readonly serialized: SerializedPlan;
    readonly statement: Statement;
    readonly columnQuery: ColumnQueryTemplate | undefined;
    /** The query as data; of EXPLAIN, it is not verified. */
    readonly tree: Lazy<QueryTree>;
  } {
    const statement = this.#parser.parse(source, limits);
    const lookback = lookbackOf(source, context.lookbackNs ?? 0n);
    const session = newSession(context, this.#functions, lookback, limits.maxBoundCount);
    const { query, explain } = bindStatement(statement, session);
    if (this.#macros.countIn(query.text, MAX_MACROS) > MAX_MACROS) {
      throw tsdbError(
        'plan_error',
        'Error during planning: the statement is too complex; nest function calls less deeply',
      );
    }
    const text =
      explain === undefined
        ? withResultSizeLimit(query.text, query.columns)
        : `${explain === 'analyze' ? 'EXPLAIN ANALYZE' : 'EXPLAIN'} ${query.text}`;
    const scans = session.scans.map((scan) => scan.toRequest());
    const isSingleScan = explain === undefined && scans.length === 1;
    const serialized: SerializedPlan = {
      scans,
      // Expressions that create strings share one memory limit, so each contains their number.
      pieces: splitAtScanMarks(session.stringBudget.insertProducerCount(text)),
      columns:
        explain === undefined
          ? query.columns.map(({ name, type, tableColumnKind }) => ({
              name,
              type,
              tableColumnKind,
            }))
          : PLAN_COLUMNS,
      parameterTypes: session.parameterTypes.all,
      tableName: explain === undefined ? query.tableName : undefined,
      isExplain: explain !== undefined,
      mayMaterialize: query.mayMaterialize ?? false,
      maxRows: query.maxRows,
      isUnordered: query.isUnordered,
      hasUnion: session.hasUnion,
      lateMaterializedTags: isSingleScan ? (query.lateMaterializedTags ?? []) : [],
      timeOrder: isSingleScan ? query.timeOrder : undefined,
      liveChange: isSingleScan ? query.liveChange : undefined,
    };
    return {
      serialized,
      statement,
      columnQuery: explain === undefined ? query.columnQuery : undefined,
      tree: explain === undefined ? query.tree : unverified('EXPLAIN'),
    };
  }
}

export function plannedFrom({ pieces, ...plan }: SerializedPlan): PlannedQuery {
  return {
    ...plan,
    render: (scanText) =>
      pieces.map((piece, index) => (index % 2 === 0 ? piece : scanText(Number(piece)))).join(''),
  };
}

function newSession(
  context: PlanContext,
  functions: FunctionRegistry,
  lookback: Lookback,
  maxBoundCount: number,
): Session {
  let nameCount = 0;
  let leftCount = maxBoundCount;
  const spend = (count: number): void => {
    leftCount -= count;
    if (leftCount < 0) throw new PlanningLimitExceeded();
  };
  return {
    context,
    functions,
    lookback,
    scans: [],
    virtualQueries: new Map(),
    parameterTypes: new ParameterTypes(),
    stringBudget: new StringBudget(),
    hasUnion: false,
    newName: (prefix) => `${prefix}${nameCount++}`,
    spend,
    bindExpr(expr, env) {
      spend(1);
      const bound = bindExpr(expr, env);
      if (bound.text.length > maxBoundCount * TEXT_PER_BOUND) throw new PlanningLimitExceeded();
      return bound;
    },
    bindQuery,
    bindGapFillCall,
    columnOf,
  };
}
