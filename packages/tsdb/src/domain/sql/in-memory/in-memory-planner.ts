import { Memo } from '@plinth/kernel';
import type { OutputColumn } from '../../../model/columns/result.js';
import type { Statement } from '../parse/ast.js';
import type { PlanContext, PlannedQuery } from '../planned-query.js';
import { type InMemoryShape, inMemoryShape } from './in-memory-shape.js';
import { liftLiterals } from './lift-literals.js';

interface KnownShape {
  readonly shape: InMemoryShape;
  readonly columns: readonly OutputColumn[];
  readonly tableName: string | undefined;
}

/** Remembers statements, apart from their literals, that rows in memory can answer: they need no planning. */
export class InMemoryPlanner {
  /** `null`: the statement has no such shape. */
  readonly #known: Memo<string, KnownShape | null>;

  constructor(options: { readonly maxCount: number }) {
    this.#known = new Memo(options);
  }

  /**
   * @param planFully plans for the engine; called at once for a statement that is not known, otherwise when the rows turn
   * out not to be in memory.
   */
  plan(
    text: string,
    context: PlanContext,
    planFully: () => { readonly planned: PlannedQuery; readonly statement: Statement },
  ): PlannedQuery {
    const lifted = liftLiterals(text);
    if (lifted === undefined) return planFully().planned;
    const key = `${context.database.id} ${lifted.key}`;
    const values = { literals: lifted.literals, context };
    const known = this.#known.get(key);
    const isCurrent =
      known && context.database.tables.get(known.shape.table.name) === known.shape.table;
    if (isCurrent) {
      const inMemory = known.shape.bind(values);
      return inMemory === undefined ? planFully().planned : lazily(known, inMemory, planFully);
    }
    const { planned, statement } = planFully();
    if (known === null) return planned;
    const shape = planned.isExplained
      ? undefined
      : inMemoryShape(statement, context.database, lifted.literals.length);
    const { columns, tableName } = planned;
    this.#known.set(key, shape === undefined ? null : { shape, columns, tableName });
    return shape === undefined ? planned : { ...planned, inMemory: shape.bind(values) };
  }
}

function lazily(
  { columns, tableName }: KnownShape,
  inMemory: NonNullable<PlannedQuery['inMemory']>,
  planFully: () => { readonly planned: PlannedQuery },
): PlannedQuery {
  let made: PlannedQuery | undefined;
  const full = (): PlannedQuery => {
    made ??= planFully().planned;
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
    get parameterTypes() {
      return full().parameterTypes;
    },
    get passedTags() {
      return full().passedTags ?? [];
    },
    get timeOrder() {
      return full().timeOrder;
    },
    columns,
    tableName,
    isExplained: false,
    inMemory,
    render: (scanText) => full().render(scanText),
  };
}
