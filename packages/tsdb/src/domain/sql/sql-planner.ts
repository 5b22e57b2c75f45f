import { bindExpr } from './bind/bind-expr.js';
import { UTF8 } from './bind/bound.js';
import { columnOf } from './bind/columns.js';
import type { Session } from './bind/session.js';
import { DirectPlanner } from './direct/direct-planner.js';
import { splitAtScanMarks } from './emit/quote.js';
import { ALL_FUNCTIONS } from './functions/index.js';
import { FunctionRegistry } from './functions/registry.js';
import { bindGapFillCall } from './gap-fill/filled-values.js';
import type { Statement } from './parse/ast.js';
import { StatementParser } from './parse/parse-statement.js';
import { bindQuery } from './plan/query.js';
import { bindStatement } from './plan/statement.js';
import type { PlanContext, PlannedQuery } from './planned-query.js';

const MAX_CACHED_STATEMENTS = 512;

/** The engine's EXPLAIN has two columns of text. */
const PLAN_COLUMNS = ['plan_type', 'plan'].map((name) => ({ name, type: UTF8, source: undefined }));

/** From the text of one SQL statement to a query for the engine. */
export class SqlPlanner {
  readonly #parser: StatementParser;
  readonly #functions = new FunctionRegistry(ALL_FUNCTIONS);
  readonly #direct = new DirectPlanner({ maxCount: MAX_CACHED_STATEMENTS });

  private constructor(parser: StatementParser) {
    this.#parser = parser;
  }

  static async load(): Promise<SqlPlanner> {
    return new SqlPlanner(await StatementParser.load({ maxCachedCount: MAX_CACHED_STATEMENTS }));
  }

  /** Throws `PlanError` and `NotImplemented` with the messages that clients see. */
  plan(text: string, context: PlanContext): PlannedQuery {
    return this.#direct.plan(text, context, () => this.#planFully(text, context));
  }

  #planFully(
    text: string,
    context: PlanContext,
  ): { readonly planned: PlannedQuery; readonly statement: Statement } {
    const statement = this.#parser.parse(text);
    const session = newSession(context, this.#functions);
    const { query, explain } = bindStatement(statement, session);
    const scans = session.scans.map((scan) => scan.toRequest());
    const prefix =
      explain === undefined ? '' : explain === 'analyze' ? 'EXPLAIN ANALYZE ' : 'EXPLAIN ';
    const pieces = splitAtScanMarks(`${prefix}${query.text}`);
    const planned: PlannedQuery = {
      scans,
      columns:
        explain === undefined
          ? query.columns.map(({ name, type, source }) => ({ name, type, source }))
          : PLAN_COLUMNS,
      tableName: explain === undefined ? query.tableName : undefined,
      isExplained: explain !== undefined,
      isSmall: query.isSmall ?? false,
      timeOrder: explain === undefined && scans.length === 1 ? query.timeOrder : undefined,
      render: (scanText) =>
        pieces.map((piece, index) => (index % 2 === 0 ? piece : scanText(Number(piece)))).join(''),
    };
    return { planned, statement };
  }
}

function newSession(context: PlanContext, functions: FunctionRegistry): Session {
  let nameCount = 0;
  return {
    context,
    functions,
    scans: [],
    newName: (prefix) => `${prefix}${nameCount++}`,
    bindExpr,
    bindQuery,
    bindGapFillCall,
    columnOf,
  };
}
