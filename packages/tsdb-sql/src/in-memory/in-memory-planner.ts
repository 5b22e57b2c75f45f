import { Memo } from '@plinth/kernel';
import type { OutputColumn } from '@plinth/tsdb-model/columns/result.js';
import type {
  FieldCondition,
  InMemoryRequest,
} from '@plinth/tsdb-model/query/in-memory-request.js';
import type { PlanContext, PlannedQuery } from '@plinth/tsdb-model/query/planned-query.js';
import { MAX_TIME_NS, MIN_TIME_NS, type TagCondition } from '@plinth/tsdb-model/scan.js';
import type { InMemoryQuery } from '../bind/session.js';
import type { LiteralNode } from '../parse/ast.js';
import { MAIN_THREAD_LIMITS } from '../parse/planning-limits.js';
import { type PlanMaker, plannedFrom } from '../plan-maker.js';
import { liftLiterals } from './lift-literals.js';
import { literalsOf } from './literals-of.js';

interface KnownQuery {
  readonly query: InMemoryQuery;
  /** Literals of the WHERE clause, in text order. */
  readonly literals: readonly LiteralNode[];
  readonly columns: readonly OutputColumn[];
  readonly tableName: string | undefined;
}

/**
 * Plans statements and caches statements that in-memory rows can serve, independently of their literals.
 * A cached statement is not planned again.
 */
export class InMemoryPlanner {
  readonly #maker: PlanMaker;
  /** `null` if in-memory rows cannot serve the statement. */
  readonly #known: Memo<string, KnownQuery | null>;

  constructor(maker: PlanMaker, options: { readonly maxCount: number }) {
    this.#maker = maker;
    this.#known = new Memo(options);
  }

  plan(text: string, context: PlanContext): PlannedQuery {
    const make = () => this.#maker.make(text, context, MAIN_THREAD_LIMITS);
    const planFully = (): PlannedQuery => plannedFrom(make().serialized);
    const lifted = liftLiterals(text);
    if (lifted === undefined) return planFully();
    const key = `${context.database.id} ${lifted.key}`;
    const known = this.#known.get(key);
    const table = known?.query.scan.table;
    if (known && table && context.database.tables.get(table.name) === table) {
      const inMemory = requestOf(known, lifted.literals, context);
      return inMemory === undefined ? planFully() : lazily(known, inMemory, planFully);
    }
    const { serialized, statement, inMemory: query } = make();
    const planned = plannedFrom(serialized);
    if (known === null) return planned;
    const literals = query && literalsOf(statement, query.selection, lifted.literals);
    const { columns, tableName } = planned;
    const found = query && literals && { query, literals, columns, tableName };
    this.#known.set(key, found ?? null);
    return found === undefined
      ? planned
      : { ...planned, inMemory: requestOf(found, lifted.literals, context) };
  }
}

/** Returns `undefined` if these literals are not supported. */
function requestOf(
  { query, literals }: KnownQuery,
  given: readonly string[],
  context: PlanContext,
): InMemoryRequest | undefined {
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
  inMemory: NonNullable<PlannedQuery['inMemory']>,
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
    get isSmall() {
      return full().isSmall;
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
    inMemory,
    render: (scanText) => full().render(scanText),
  };
}
