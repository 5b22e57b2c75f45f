import { Memo } from '@plinth/kernel';
import type { OutputColumn } from '@plinth/tsdb-model/columns/result.js';
import type { ColumnQuery, FieldCondition } from '@plinth/tsdb-model/query/column-query.js';
import type { PlanContext, PlannedQuery } from '@plinth/tsdb-model/query/planned-query.js';
import { MAX_TIME_NS, MIN_TIME_NS, type TagCondition } from '@plinth/tsdb-model/scan.js';
import type { ColumnQueryTemplate } from '../bind/session.js';
import type { LiteralNode } from '../parse/ast.js';
import { MAIN_THREAD_LIMITS } from '../parse/planning-limits.js';
import { plannedFrom, type StatementPlanner } from '../statement-planner.js';
import { liftLiterals } from './lift-literals.js';
import { literalsOf } from './literals-of.js';

interface KnownQuery {
  readonly query: ColumnQueryTemplate;
  /** Literals of the WHERE clause, in text order. */
  readonly literals: readonly LiteralNode[];
  readonly columns: readonly OutputColumn[];
  readonly tableName: string | undefined;
}

/**
 * Plans statements. Caches statements that are column queries, independently of their literals; a cached
 * statement is not planned again.
 */
export class ColumnQueryPlanner {
  readonly #planner: StatementPlanner;
  /** `null` if the statement has no equivalent column query. */
  readonly #known: Memo<string, KnownQuery | null>;

  constructor(planner: StatementPlanner, options: { readonly maxCount: number }) {
    this.#planner = planner;
    this.#known = new Memo(options);
  }

  plan(text: string, context: PlanContext): PlannedQuery {
    const make = () => this.#planner.plan(text, context, MAIN_THREAD_LIMITS);
    const planFully = (): PlannedQuery => plannedFrom(make().serialized);
    const lifted = liftLiterals(text);
    if (lifted === undefined) return planFully();
    const key = `${context.database.id} ${lifted.key}`;
    const known = this.#known.get(key);
    const table = known?.query.scan.table;
    if (known && table && context.database.tables.get(table.name) === table) {
      const columnQuery = columnQueryOf(known, lifted.literals, context);
      return columnQuery === undefined ? planFully() : lazily(known, columnQuery, planFully);
    }
    const { serialized, statement, columnQuery: query } = make();
    const planned = plannedFrom(serialized);
    if (known === null) return planned;
    const literals = query && literalsOf(statement, query.selection, lifted.literals);
    const { columns, tableName } = planned;
    const found = query && literals && { query, literals, columns, tableName };
    this.#known.set(key, found ?? null);
    return found === undefined
      ? planned
      : { ...planned, columnQuery: columnQueryOf(found, lifted.literals, context) };
  }
}

/** Returns `undefined` if these literals are not supported. */
function columnQueryOf(
  { query, literals }: KnownQuery,
  given: readonly string[],
  context: PlanContext,
): ColumnQuery | undefined {
  const values = { texts: new Map(literals.map((node, i) => [node, given[i] as string])), context };
  let [minTimeNs, maxTimeNs] = [MIN_TIME_NS, MAX_TIME_NS];
  const tagConditions: TagCondition[] = [];
  const fieldConditions: FieldCondition[] = [];
  for (const conditionOf of query.conditions) {
    const rowCondition = conditionOf(values);
    if (rowCondition === undefined) return undefined;
    if (rowCondition.kind === 'tag') tagConditions.push(rowCondition.condition);
    else if (rowCondition.kind === 'field') fieldConditions.push(rowCondition.condition);
    else {
      if (rowCondition.minNs > minTimeNs) minTimeNs = rowCondition.minNs;
      if (rowCondition.maxNs < maxTimeNs) maxTimeNs = rowCondition.maxNs;
    }
  }
  const { computation, scan } = query;
  return { table: scan.table, minTimeNs, maxTimeNs, tagConditions, fieldConditions, computation };
}

function lazily(
  { columns, tableName }: KnownQuery,
  columnQuery: NonNullable<PlannedQuery['columnQuery']>,
  planFully: () => PlannedQuery,
): PlannedQuery {
  let made: PlannedQuery | undefined;
  const full = (): PlannedQuery => {
    made ??= planFully();
    return made;
  };
  return {
    get scans() {
      return full().scans;
    },
    get mayMaterialize() {
      return full().mayMaterialize;
    },
    get maxRows() {
      return full().maxRows;
    },
    get isUnordered() {
      return full().isUnordered;
    },
    get hasUnion() {
      return full().hasUnion ?? false;
    },
    get parameterTypes() {
      return full().parameterTypes;
    },
    get lateMaterializedTags() {
      return full().lateMaterializedTags ?? [];
    },
    get timeOrder() {
      return full().timeOrder;
    },
    get liveChange() {
      return full().liveChange;
    },
    columns,
    tableName,
    isExplain: false,
    columnQuery,
    render: (scanText) => full().render(scanText),
  };
}
