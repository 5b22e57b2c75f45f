import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { BoundQuery, Session } from '../bind/session.js';
import { type Query, type Statement, variantOf } from '../parse/ast.js';
import { describeTable, showColumns, showFunctions, showTables, showVariable } from './show.js';

export interface BoundStatement {
  readonly query: BoundQuery;
  /** Set if the result is DuckDB's plan of the query; `analyze` also runs and measures it. */
  readonly explain: 'plan' | 'analyze' | undefined;
}

/** Messages for unsupported kinds of statements. Source: tsdb-http, "Failures". */
const REFUSALS: readonly (readonly [kinds: RegExp, sentence: string])[] = [
  [/^(Create|Drop|Alter|Truncate|Comment|Rename)/, 'DDL not supported'],
  [/^(Insert|Update|Delete|Copy|Merge)/, 'DML not supported'],
];

export function bindStatement(statement: Statement, session: Session): BoundStatement {
  const variant = variantOf(statement);
  const body = statement[variant];
  switch (variant) {
    case 'Query':
      return { query: topQuery(body as Query, session), explain: undefined };
    case 'Explain': {
      const { statement: inner, analyze } = body as {
        readonly statement: Statement;
        readonly analyze: boolean;
      };
      const bound = bindStatement(inner, session);
      return { query: bound.query, explain: analyze ? 'analyze' : 'plan' };
    }
    case 'ExplainTable':
      return { query: describeTable(body, session), explain: undefined };
    case 'ShowTables':
      return { query: showTables(body, session), explain: undefined };
    case 'ShowColumns':
      return { query: showColumns(body, session), explain: undefined };
    case 'ShowFunctions':
      return { query: showFunctions(body, session), explain: undefined };
    case 'ShowVariable':
      return { query: showVariable(body), explain: undefined };
    default:
      throw refusal(variant, body);
  }
}

function topQuery(query: Query, session: Session): BoundQuery {
  return session.bindQuery(query, { session, outer: undefined, ctes: new Map(), depth: 0 });
}

function refusal(tag: string, body: unknown): TsdbError<'plan_error'> {
  const name = nodeName(tag, body);
  const [, sentence] = REFUSALS.find(([kinds]) => kinds.test(tag)) ?? [];
  return tsdbError(
    'plan_error',
    `Error during planning: ${sentence ?? 'Statement not supported'}: ${name}`,
  );
}

/** Returns the name of the plan node that DataFusion reports for the statement. */
function nodeName(tag: string, body: unknown): string {
  switch (tag) {
    case 'CreateTable':
      return 'CreateMemoryTable';
    case 'Drop':
      return `Drop${(body as { readonly object_type: string }).object_type}`;
    case 'Set':
      return 'SetVariable';
    case 'StartTransaction':
      return 'TransactionStart';
    case 'Commit':
    case 'Rollback':
      return 'TransactionEnd';
    default:
      return tag;
  }
}
