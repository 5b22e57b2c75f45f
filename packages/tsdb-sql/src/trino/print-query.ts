import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { WideTable } from '@plinth/tsdb-model/query/wide-plan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { quoteName } from '../emit/quote.js';
import { columnType } from '../plan/select/column-type.js';
import type { ExprTree, FromTree, GroupsTree, QueryTree, SelectTree } from '../plan-tree.js';
import {
  FINITE,
  type FloatRange,
  floatRange,
  NAN,
  requireComparable,
  requireNoNaN,
  widest,
} from './float-range.js';
import { notVerified } from './not-verified.js';
import { orderText, printExpression, type SurroundingQuery } from './print-expression.js';
import { bigintText, trinoType } from './trino-values.js';

type ScanTree = Extract<FromTree, { readonly kind: 'scan' }>;

/** Joins with the same result in Trino. */
const JOINS: ReadonlySet<string> = new Set([
  ...['CROSS JOIN', 'INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'],
]);

/** Prints a checked query for Trino. Everything that is not verified throws `plan_error`. */
export class QueryPrinter implements SurroundingQuery {
  readonly #tableOf: (schema: TableSchema) => WideTable;
  /** Tables by relation. */
  readonly #scans = new Map<string, WideTable>();
  /** Columns of derived rows, by relation or by the name of a common table. */
  readonly #ranges = new Map<string, ReadonlyMap<string, FloatRange>>();
  /** Relations of the innermost query that is printed as part of an expression. */
  #scope = new Set<string>();

  constructor(tableOf: (schema: TableSchema) => WideTable) {
    this.#tableOf = tableOf;
  }

  print(query: QueryTree): string {
    switch (query.kind) {
      case 'select':
        return this.#select(query);
      case 'set': {
        const [left, right] = query.sides.map((side) => `(${this.#withoutWith(side)})`);
        if (query.operator !== 'UNION ALL') requireNoNaN(this.queryRanges(query));
        return `${left} ${query.operator} ${right}`;
      }
      case 'with': {
        const tables = query.tables.map(({ name, columns, query: body }) => {
          const text = `${name}(${columns.join(', ')}) AS (${this.print(body)})`;
          this.#setRanges(name, columns, this.queryRanges(body));
          return text;
        });
        return `WITH ${tables.join(', ')} ${this.#withoutWith(query.query)}`;
      }
      case 'unverified':
        throw notVerified(query.what);
    }
  }

  subquery(query: QueryTree): string {
    return this.#inScope(() => this.print(query));
  }

  overQuery(query: QueryTree, relation: string, member: ExprTree): string {
    return this.#inScope(() => {
      const from = this.#derived(query, relation);
      return `SELECT ${this.#expression(member)} FROM ${from}`;
    });
  }

  columnRange({
    relation,
    name,
  }: {
    readonly relation: string;
    readonly name: string;
  }): FloatRange {
    if (this.#scans.has(relation)) return FINITE;
    return this.#ranges.get(relation)?.get(name) ?? NAN;
  }

  queryRanges(query: QueryTree): readonly FloatRange[] {
    switch (query.kind) {
      case 'select':
        return query.items.map((item) => floatRange(item, this));
      case 'set': {
        const [left, right] = query.sides.map((side) => this.queryRanges(side));
        return left?.map((range, index) => widest([range, right?.[index] ?? NAN])) ?? [];
      }
      case 'with':
        return this.queryRanges(query.query);
      default:
        return [];
    }
  }

  /** Returns the published name of a table column; names of other columns are the same. */
  columnName({ relation, name }: { readonly relation: string; readonly name: string }): string {
    if (!this.#scope.has(relation)) throw notVerified('a correlated subquery');
    const table = this.#scans.get(relation);
    if (table === undefined) return name;
    const published = table.columnName(name);
    if (published === undefined)
      throw tsdbError('plan_error', `column ${name} is not published, so Trino cannot read it`);
    return published;
  }

  #select(select: SelectTree): string {
    const { groups, from, where, having, limit } = select;
    const source = `${from === undefined ? '' : ` FROM ${this.#from(from)}`}${this.#where(where)}`;
    const rows = groups === undefined ? source : ` FROM ${this.#grouped(groups, source)}`;
    this.#requireComparableKeys(select);
    const items = select.items.map((item, index) => `${this.#expression(item)} AS c${index}`);
    const order = orderText(select.order, (tree) => this.#expression(tree));
    return [
      `SELECT ${select.isDistinct ? 'DISTINCT ' : ''}${items.join(', ')}${rows}`,
      this.#where(having),
      order === '' ? '' : ` ORDER BY ${order}`,
      limit.offset === undefined ? '' : ` OFFSET ${limit.offset}`,
      limit.count === undefined ? '' : ` LIMIT ${limit.count}`,
    ].join('');
  }

  #requireComparableKeys({ items, isDistinct, order }: SelectTree): void {
    const keys = order.map(({ by }) => (typeof by === 'number' ? items[by - 1] : by));
    const compared = [...(isDistinct ? items : []), ...keys.filter((key) => key !== undefined)];
    requireComparable(compared, this);
  }

  /** Trino accepts WITH only at the start of a statement and of a query in FROM. */
  #withoutWith(query: QueryTree): string {
    const text = this.print(query);
    return query.kind === 'with' ? `SELECT * FROM (${text})` : text;
  }

  #inScope(print: () => string): string {
    const outer = this.#scope;
    this.#scope = new Set();
    try {
      return print();
    } finally {
      this.#scope = outer;
    }
  }

  #setRanges(relation: string, columns: readonly string[], ranges: readonly FloatRange[]): void {
    this.#ranges.set(relation, new Map(columns.map((name, index) => [name, ranges[index] ?? NAN])));
  }

  #derived(query: QueryTree, relation: string): string {
    const text = `(${this.print(query)}) AS ${relation}`;
    const ranges = this.queryRanges(query);
    this.#scope.add(relation);
    this.#setRanges(
      relation,
      ranges.map((_, index) => `c${index}`),
      ranges,
    );
    return text;
  }

  #expression(tree: ExprTree): string {
    return printExpression(tree, this);
  }

  #where(condition: ExprTree | undefined): string {
    return condition === undefined ? '' : ` WHERE ${this.#expression(condition)}`;
  }

  #grouped({ relation, keys, values }: GroupsTree, source: string): string {
    const items = [
      ...keys.map((key, index) => `${this.#expression(key)} AS k${index}`),
      ...values.map((value, index) => `${this.#expression(value)} AS v${index}`),
    ];
    requireComparable(keys, this);
    this.#scope.add(relation);
    const ranges = [
      ...keys.map((key, index) => [`k${index}`, floatRange(key, this)] as const),
      ...values.map((value, index) => [`v${index}`, floatRange(value, this)] as const),
    ];
    this.#ranges.set(relation, new Map(ranges));
    const list = items.length === 0 ? 'count(*) AS v0' : items.join(', ');
    const groupBy = keys.length === 0 ? '' : ` GROUP BY ${keys.map((_, i) => i + 1).join(', ')}`;
    return `(SELECT ${list}${source}${groupBy}) AS ${relation}`;
  }

  #from(from: FromTree): string {
    switch (from.kind) {
      case 'scan':
        return this.#scan(from);
      case 'query':
        return this.#derived(from.query, from.relation);
      case 'common':
        this.#scope.add(from.relation);
        this.#ranges.set(from.relation, this.#ranges.get(from.name) ?? new Map());
        return `${from.name} AS ${from.relation}`;
      case 'join': {
        if (!JOINS.has(from.join)) throw notVerified(from.join);
        const [left, right] = [this.#from(from.left), this.#from(from.right)];
        const on = from.on === undefined ? '' : ` ON ${this.#expression(from.on)}`;
        return `(${left} ${from.join} ${right}${on})`;
      }
      case 'unverified':
        throw notVerified(from.what);
    }
  }

  #scan({ table: schema, relation }: ScanTree): string {
    const table = this.#tableOf(schema);
    this.#scans.set(relation, table);
    this.#scope.add(relation);
    if (table.path === undefined) return `(${noRows(schema, table)}) AS ${relation}`;
    const name = table.path.map(quoteName).join('.');
    if (table.visibleFromNs === undefined) return `${name} AS ${relation}`;
    const time = quoteName(table.columnName('time') ?? '');
    const visible = `${time} >= ${bigintText(table.visibleFromNs)}`;
    return `(SELECT * FROM ${name} WHERE ${visible}) AS ${relation}`;
  }
}

/** A table without files is not in the catalog. */
function noRows({ columns }: TableSchema, table: WideTable): string {
  const items = [...columns.values()].flatMap(({ name, kind }) => {
    const published = table.columnName(name);
    if (published === undefined) return [];
    return [`CAST(NULL AS ${trinoType(columnType(kind))}) AS ${quoteName(published)}`];
  });
  return `SELECT ${items.join(', ')} WHERE FALSE`;
}
