import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { quoteName } from '../../emit/quote.js';
import { type Expr, variantOf } from '../../parse/ast.js';
import { columnTree, type ExprTree, type Lazy, treeOf } from '../../plan-tree.js';
import type { Scope, ScopeColumn } from '../scope.js';
import type { Bound } from '../types/bound.js';

/** A GROUP BY expression and its column in the grouped rows. */
export interface GroupKey {
  readonly input: Bound;
  readonly duckDbName: string;
  /** The expression after grouping. */
  readonly output: Bound;
}

/** A value computed per group, with its column in the grouped rows. */
export interface GroupValue extends Pick<Bound, 'text' | 'finish'> {
  readonly duckDbName: string;
  readonly tree: Lazy<ExprTree>;
}

/** The bins of a gap-filling query; see `GapBins`. */
export interface Gaps {
  readonly key: GroupKey;
  readonly binsText: string;
  readonly column: ScopeColumn;
  readonly minNs: bigint;
}

/** A gap-filled value, with its own column in the grouped rows. */
export interface GapFill {
  readonly how: 'locf' | 'interpolate';
  readonly value: GroupValue;
  readonly type: SqlType;
  readonly duckDbName: string;
}

/** Name resolution of the query that is being bound. */
interface Names {
  newName(prefix: string): string;
  columnOf(expr: Expr, scope: Scope): ScopeColumn | undefined;
}

/**
 * Boundary between rows and groups of one SELECT. Expressions above it can use only keys and
 * values. Binding an aggregate adds a value here.
 */
export class Aggregation {
  readonly input: Scope;
  readonly relation: string;
  readonly keys: GroupKey[] = [];
  readonly values: GroupValue[] = [];
  /** Set if one key is a gap-filling bin. */
  gaps: Gaps | undefined;
  readonly fills: GapFill[] = [];
  readonly #names: Names;
  readonly #byShape = new Map<string, GroupKey>();
  readonly #tags = new Set<string>();

  constructor(names: Names, input: Scope) {
    this.#names = names;
    this.input = input;
    this.relation = names.newName('g');
  }

  addKey(expr: Expr, input: Bound): GroupKey {
    const shape = this.#shape(expr);
    const known = this.#byShape.get(shape);
    if (known !== undefined) return known;
    const duckDbName = `k${this.keys.length}`;
    const output = { ...input, ...this.#column(duckDbName, input.type) };
    const key: GroupKey = { input, duckDbName, output: withoutConstant(output) };
    this.keys.push(key);
    this.#byShape.set(shape, key);
    this.#tags.add(variantOf(expr));
    return key;
  }

  /** Returns the key that equals `expr`, if any. */
  keyOf(expr: Expr): GroupKey | undefined {
    return this.#tags.has(variantOf(expr)) ? this.#byShape.get(this.#shape(expr)) : undefined;
  }

  keyOfColumn(column: ScopeColumn): GroupKey | undefined {
    return this.keys.find((key) => key.input.column === column);
  }

  /** Adds a group value and returns a reference to it. */
  addValue(value: Bound): Bound {
    const { text, finish, type, displayName } = value;
    const known = this.values.find(
      (other) => other.text === text && other.finish?.('') === finish?.(''),
    );
    const duckDbName = known?.duckDbName ?? `v${this.values.length}`;
    if (known === undefined)
      this.values.push({ text, duckDbName, tree: () => treeOf(value), ...(finish && { finish }) });
    return {
      ...this.#column(duckDbName, type),
      type,
      displayName,
      hasAggregate: true,
      hasWindow: false,
    };
  }

  /** Returns the value with the column `text`. */
  valueOf(text: string): GroupValue | undefined {
    return this.values.find((value) => this.#reference(value.duckDbName) === text);
  }

  /** Adds a gap fill and returns the text of its column. */
  addFill(fill: Omit<GapFill, 'duckDbName'>): string {
    const known = this.fills.find((other) => other.how === fill.how && other.value === fill.value);
    const duckDbName = known?.duckDbName ?? `f${this.fills.length}`;
    if (known === undefined) this.fills.push({ ...fill, duckDbName });
    return this.#reference(duckDbName);
  }

  /** Returns the error for a column that is neither grouped nor aggregated. */
  ungrouped(column: ScopeColumn): TsdbError<'plan_error'> {
    const shown =
      column.qualifier === undefined ? column.name : `${column.qualifier}.${column.name}`;
    const allowed = this.keys.map((key) => key.input.displayName).join(', ');
    return tsdbError(
      'plan_error',
      'Error during planning: Column in SELECT must be in GROUP BY or an aggregate function: While expanding ' +
        `wildcard, column "${shown}" must appear in the GROUP BY clause or must be part of an aggregate ` +
        `function, currently only "${allowed}" appears in the SELECT clause satisfies this requirement`,
    );
  }

  #column(name: string, type: SqlType): Required<Pick<Bound, 'text' | 'tree'>> {
    const { relation } = this;
    return { text: this.#reference(name), tree: columnTree(relation, name, type) };
  }

  #reference(duckDbName: string): string {
    return `${this.relation}.${quoteName(duckDbName)}`;
  }

  /**
   * Returns equal strings for equivalent expressions. Columns are identified by their resolved column, all other
   * expressions by syntax.
   */
  #shape(expr: Expr): string {
    return JSON.stringify(expr, (key, value: unknown) => {
      if (key === 'span' || key.endsWith('_token')) return undefined;
      if (typeof value === 'bigint') return String(value);
      if (typeof value === 'object' && value !== null) {
        if ('Nested' in value) return value.Nested;
        const column = this.#names.columnOf(value as Expr, this.input);
        if (column !== undefined) return `\0${column.text}`;
      }
      return value;
    });
  }
}

/**
 * Drops the constant or call, because the text now refers to the key. Only `date_bin` is kept,
 * since column queries can group by it.
 */
function withoutConstant(expr: Bound): Bound {
  const { constant: _constant, choice: _choice, call, ...rest } = expr;
  return call?.name === 'date_bin' ? { ...rest, call } : rest;
}
