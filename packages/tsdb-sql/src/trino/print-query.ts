import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { WideTable } from '@plinth/tsdb-model/query/wide-plan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { quoteName } from '../emit/quote.js';
import { columnType } from '../plan/select/column-type.js';
import type { ExprTree, FromTree, GroupsTree, QueryTree, SelectTree } from '../plan-tree.js';
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

  constructor(tableOf: (schema: TableSchema) => WideTable) {
    this.#tableOf = tableOf;
  }

  print(query: QueryTree): string {
    switch (query.kind) {
      case 'select':
        return this.#select(query);
      case 'set': {
        const [left, right] = query.sides.map((side) => `(${this.print(side)})`);
        return `${left} ${query.operator} ${right}`;
      }
      case 'with': {
        const tables = query.tables.map(
          ({ name, columns, query: body }) =>
            `${name}(${columns.join(', ')}) AS (${this.print(body)})`,
        );
        return `WITH ${tables.join(', ')} ${this.print(query.query)}`;
      }
      case 'unverified':
        throw notVerified(query.what);
    }
  }

  /** Returns the published name of a table column; names of other columns are the same. */
  columnName({ relation, name }: { readonly relation: string; readonly name: string }): string {
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
    const list = items.length === 0 ? 'count(*) AS v0' : items.join(', ');
    const groupBy = keys.length === 0 ? '' : ` GROUP BY ${keys.map((_, i) => i + 1).join(', ')}`;
    return `(SELECT ${list}${source}${groupBy}) AS ${relation}`;
  }

  #from(from: FromTree): string {
    switch (from.kind) {
      case 'scan':
        return this.#scan(from);
      case 'query':
        return `(${this.print(from.query)}) AS ${from.relation}`;
      case 'common':
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
