import { toAsciiLowerCase } from '@plinth/kernel';

/**
 * The parts of the syntax tree that the planner reads. A node is an object with one key, the name
 * of its variant. Unit variants are strings, including `'None'`. Absent parts are `undefined`.
 */
export interface Ident {
  readonly value: string;
  readonly quote_style?: string;
}

export type NamePart = { readonly Identifier: Ident };
export type ObjectName = readonly NamePart[];

/**
 * `'Null'` or `{ SingleQuotedString: 'a' }`, `{ Number: ['1', false] }`, `{ Boolean: true }`, `{
 * Placeholder: '$a' }`.
 */
export type Literal = 'Null' | { readonly [variant: string]: unknown };

export interface LiteralNode {
  readonly value: Literal;
  /** Absent for nodes that the planner creates. */
  readonly span?: { readonly start: { readonly line: number; readonly column: number } };
}

export interface ExprNodes {
  Identifier: Ident;
  CompoundIdentifier: readonly Ident[];
  CompoundFieldAccess: { readonly root: Expr; readonly access_chain: readonly Access[] };
  Value: LiteralNode;
  TypedString: { readonly data_type: DataType; readonly value: LiteralNode };
  Interval: {
    readonly value: Expr;
    readonly leading_field?: string | { readonly Week?: string };
  };
  Nested: Expr;
  BinaryOp: { readonly left: Expr; readonly op: string; readonly right: Expr };
  UnaryOp: { readonly op: string; readonly expr: Expr };
  IsNull: Expr;
  IsNotNull: Expr;
  IsTrue: Expr;
  IsNotTrue: Expr;
  IsFalse: Expr;
  IsNotFalse: Expr;
  IsUnknown: Expr;
  IsNotUnknown: Expr;
  IsDistinctFrom: readonly [Expr, Expr];
  IsNotDistinctFrom: readonly [Expr, Expr];
  Between: {
    readonly expr: Expr;
    readonly negated: boolean;
    readonly low: Expr;
    readonly high: Expr;
  };
  InList: { readonly expr: Expr; readonly list: readonly Expr[]; readonly negated: boolean };
  InSubquery: { readonly expr: Expr; readonly subquery: Query; readonly negated: boolean };
  Exists: { readonly subquery: Query; readonly negated: boolean };
  Subquery: Query;
  Like: LikeNode;
  ILike: LikeNode;
  SimilarTo: LikeNode;
  Case: {
    readonly operand?: Expr;
    readonly conditions: readonly { readonly condition: Expr; readonly result: Expr }[];
    readonly else_result?: Expr;
  };
  Cast: { readonly kind: string; readonly expr: Expr; readonly data_type: DataType };
  Function: FunctionNode;
  Extract: { readonly field: string | object; readonly expr: Expr };
  Trim: {
    readonly expr: Expr;
    readonly trim_where?: 'Both' | 'Leading' | 'Trailing';
    readonly trim_what?: Expr;
    readonly trim_characters?: readonly Expr[];
  };
  Position: { readonly expr: Expr; readonly in: Expr };
  Substring: {
    readonly expr: Expr;
    readonly substring_from?: Expr;
    readonly substring_for?: Expr;
  };
  Overlay: {
    readonly expr: Expr;
    readonly overlay_what: Expr;
    readonly overlay_from: Expr;
    readonly overlay_for?: Expr;
  };
  Ceil: { readonly expr: Expr; readonly field: object };
  Floor: { readonly expr: Expr; readonly field: object };
  AtTimeZone: { readonly timestamp: Expr; readonly time_zone: Expr };
  Array: { readonly elem: readonly Expr[] };
  Struct: {
    readonly values: readonly (
      | Expr
      | { readonly Named: { readonly expr: Expr; readonly name: Ident } }
    )[];
    /** Fields of the typed form, `STRUCT<a INT>(1)`. */
    readonly fields: readonly unknown[];
  };
  Tuple: readonly Expr[];
  Dictionary: readonly { readonly key: Ident; readonly value: Expr }[];
  Map: { readonly entries: readonly { readonly key: Expr; readonly value: Expr }[] };
  AnyOp: { readonly left: Expr; readonly compare_op: string; readonly right: Expr };
  AllOp: { readonly left: Expr; readonly compare_op: string; readonly right: Expr };
}

export type Expr = {
  readonly [Tag in keyof ExprNodes]: { readonly [Key in Tag]: ExprNodes[Tag] };
}[keyof ExprNodes];

export interface LikeNode {
  readonly negated: boolean;
  readonly any?: boolean;
  readonly expr: Expr;
  readonly pattern: Expr;
  readonly escape_char?: LiteralNode;
}

export type Access =
  | { readonly Dot: Expr }
  | {
      readonly Subscript:
        | { readonly Index: { readonly index: Expr } }
        | {
            readonly Slice: {
              readonly lower_bound?: Expr;
              readonly upper_bound?: Expr;
              readonly stride?: Expr;
            };
          };
    };

/** `'Text'` or `{ Varchar: details }`; details may be `undefined`. */
export type DataType = string | { readonly [name: string]: unknown };

export type ArgExpr =
  | 'Wildcard'
  | { readonly Expr: Expr }
  | { readonly QualifiedWildcard: unknown };

export type FunctionArg =
  | { readonly Unnamed: ArgExpr }
  | { readonly Named: { readonly name: Ident; readonly arg: ArgExpr } };

export interface FunctionArgs {
  readonly duplicate_treatment?: 'Distinct' | 'All';
  readonly args: readonly FunctionArg[];
  readonly clauses: readonly {
    readonly OrderBy?: readonly OrderByExpr[];
    readonly IgnoreOrRespectNulls?: string;
  }[];
}

export interface FunctionNode {
  readonly name: ObjectName;
  readonly args: 'None' | { readonly List: FunctionArgs } | { readonly Subquery: Query };
  readonly filter?: Expr;
  readonly null_treatment?: string;
  readonly over?: { readonly NamedWindow: Ident } | { readonly WindowSpec: WindowSpec };
  readonly within_group: readonly OrderByExpr[];
}

export interface WindowSpec {
  readonly window_name?: Ident;
  readonly partition_by: readonly Expr[];
  readonly order_by: readonly OrderByExpr[];
  readonly window_frame?: {
    readonly units: 'Rows' | 'Range' | 'Groups';
    readonly start_bound: FrameBound;
    readonly end_bound?: FrameBound;
  };
}

export type FrameBound =
  | 'CurrentRow'
  | { readonly Preceding?: Expr }
  | { readonly Following?: Expr };

export interface OrderByExpr {
  readonly expr: Expr;
  readonly options: { readonly asc?: boolean; readonly nulls_first?: boolean };
}

export interface Query {
  readonly with?: {
    readonly recursive: boolean;
    readonly cte_tables: readonly { readonly alias: TableAlias; readonly query: Query }[];
  };
  readonly body: SetExpr;
  readonly order_by?: { readonly kind: { readonly Expressions?: readonly OrderByExpr[] } };
  readonly limit_clause?: {
    readonly LimitOffset?: {
      readonly limit?: Expr;
      readonly offset?: { readonly value: Expr };
      readonly limit_by: readonly Expr[];
    };
  };
  readonly fetch?: {
    readonly quantity?: Expr;
    readonly percent: boolean;
    readonly with_ties: boolean;
  };
  readonly locks: readonly unknown[];
}

export interface ValuesNode {
  readonly rows: readonly { readonly content: readonly Expr[] }[];
}

export interface SetOperationNode {
  readonly op: 'Union' | 'Intersect' | 'Except';
  readonly set_quantifier: string;
  readonly left: SetExpr;
  readonly right: SetExpr;
}

export type SetExpr =
  | { readonly Select: Select }
  | { readonly Query: Query }
  | { readonly SetOperation: SetOperationNode }
  | { readonly Values: ValuesNode };

export interface Select {
  readonly distinct?: 'Distinct' | 'All' | { readonly On: readonly Expr[] };
  readonly top?: unknown;
  readonly projection: readonly SelectItem[];
  readonly into?: unknown;
  readonly from: readonly TableWithJoins[];
  readonly lateral_views: readonly unknown[];
  readonly selection?: Expr;
  readonly group_by:
    | { readonly Expressions: readonly [readonly GroupExpr[], unknown] }
    | { readonly All: unknown };
  readonly having?: Expr;
  readonly named_window: readonly (readonly [
    Ident,
    { readonly NamedWindow: Ident } | { readonly WindowSpec: WindowSpec },
  ])[];
  readonly qualify?: Expr;
}

export type GroupExpr =
  | Expr
  | { readonly Rollup: readonly (readonly Expr[])[] }
  | { readonly Cube: readonly (readonly Expr[])[] }
  | { readonly GroupingSets: readonly (readonly Expr[])[] };

export type SelectItem =
  | { readonly UnnamedExpr: Expr }
  | { readonly ExprWithAlias: { readonly expr: Expr; readonly alias: Ident } }
  | { readonly Wildcard: WildcardOptions }
  | {
      readonly QualifiedWildcard: readonly [{ readonly ObjectName?: ObjectName }, WildcardOptions];
    };

export interface WildcardOptions {
  readonly opt_exclude?: {
    readonly Single?: ObjectName;
    readonly Multiple?: readonly ObjectName[];
  };
  readonly opt_except?: {
    readonly first_element: Ident;
    readonly additional_elements: readonly Ident[];
  };
  readonly opt_replace?: {
    readonly items: readonly { readonly expr: Expr; readonly column_name: Ident }[];
  };
  readonly opt_rename?: unknown;
  readonly opt_ilike?: unknown;
}

export interface TableAlias {
  readonly name: Ident;
  readonly columns: readonly { readonly name: Ident }[];
}

export interface TableWithJoins {
  readonly relation: TableFactor;
  readonly joins: readonly Join[];
}

export interface TableNode {
  readonly name: ObjectName;
  readonly alias?: TableAlias;
  readonly args?: { readonly args: readonly FunctionArg[] };
  readonly sample?: unknown;
}

export type TableFactor =
  | { readonly Table: TableNode }
  | {
      readonly Derived: {
        readonly lateral: boolean;
        readonly subquery: Query;
        readonly alias?: TableAlias;
      };
    }
  | {
      readonly NestedJoin: {
        readonly table_with_joins: TableWithJoins;
        readonly alias?: TableAlias;
      };
    }
  | { readonly UNNEST: { readonly array_exprs: readonly Expr[]; readonly alias?: TableAlias } }
  | { readonly [other: string]: unknown };

export interface Join {
  readonly relation: TableFactor;
  /** `{ Inner: constraint }`; the constraint is `'None'`, `'Natural'`, `{ On }` or `{ Using }`. */
  readonly join_operator: { readonly [operator: string]: JoinConstraint };
}

export type JoinConstraint =
  | 'None'
  | 'Natural'
  | { readonly On: Expr }
  | { readonly Using: readonly ObjectName[] };

export type Statement = { readonly [name: string]: unknown };

/** Returns the name of a node's variant. */
export function variantOf(node: string | object): string {
  return typeof node === 'string' ? node : (Object.keys(node)[0] ?? '');
}

/**
 * Returns the name; unquoted names fold A to Z to lower case. Source: query-languages,
 * "Identifiers".
 */
export function nameOf(ident: Ident): string {
  return ident.quote_style === undefined ? toAsciiLowerCase(ident.value) : ident.value;
}

export function namesOf(name: ObjectName): string[] {
  return name.map((part) => nameOf(part.Identifier));
}

/** Creates a function call node. */
/** Returns whether an expression contains a subquery. */
export function hasSubquery(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  return Object.entries(node).some(([key, child]) => SUBQUERIES.has(key) || hasSubquery(child));
}

const SUBQUERIES: ReadonlySet<string> = new Set(['Subquery', 'InSubquery', 'Exists']);

export function callNode(name: string, args: readonly Expr[]): { readonly Function: FunctionNode } {
  return {
    Function: {
      name: [{ Identifier: { value: name } }],
      args: { List: { args: args.map((arg) => ({ Unnamed: { Expr: arg } })), clauses: [] } },
      within_group: [],
    },
  };
}
