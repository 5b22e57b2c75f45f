import { invariant, Memo } from '@plinth/kernel';
import type { Expr } from '../../ast/expressions.js';
import type { SelectStatement } from '../../ast/select.js';
import type { Statement } from '../../ast/statements.js';
import { type LiftedText, type LiftedValue, liftValues } from '../../parse/lift-values.js';
import { ParseError } from '../../parse/parse-error.js';
import { MAX_INT64, NS_PER_UNIT } from '../../parse/scanner.js';
import type { Environment } from '../environment.js';
import { recompileSelect } from './compile-select.js';
import type { CompiledSelect } from './compiled-select.js';
import { findTables } from './find-sources.js';
import type { TableSource } from './source.js';

/** A parsed text, with access to its cache entry. */
export interface ReadText {
  readonly statements: readonly Statement[];
  /**
   * Returns the compiled form of the only statement if its shape is cached and the table is
   * unchanged.
   */
  compiled(env: Environment): CompiledSelect | undefined;
  /** Caches the compiled form of the only statement. */
  remember(select: CompiledSelect): void;
}

/** A SELECT of one table whose values all occur in its condition. */
interface Shape {
  readonly statement: SelectStatement;
  /** Returns `undefined` if a value has another kind than the shape expects. */
  conditionOf(values: readonly LiftedValue[]): Expr | undefined;
  compiled: CompiledSelect | undefined;
}

/** Parse function and scope of a text that is not cached. */
interface Reading {
  /** All other inputs that determine the meaning of a text. */
  readonly scope: string;
  parse(text: string): readonly Statement[];
}

type Known = 'once' | 'shapeless' | Shape;

/**
 * Caches SELECTs independently of their values. A text of a known shape is neither parsed nor
 * compiled. Its values are put into the condition, and only the condition is compiled again.
 */
export class PreparedSelects {
  readonly #known: Memo<string, Known>;

  constructor(options: { readonly maxCount: number }) {
    this.#known = new Memo(options);
  }

  /** Throws the errors of `parse`. */
  read(text: string, { scope, parse }: Reading): ReadText {
    const readAnew = (): ReadText => ({
      statements: parse(text),
      compiled: () => undefined,
      remember: () => undefined,
    });
    const lifted = liftValues(text);
    if (lifted === undefined) return readAnew();
    const key = `${scope}\0${lifted.key}`;
    const known = this.#known.get(key);
    if (known === undefined) {
      const read = readAnew();
      this.#known.set(key, read.statements.length === 1 ? 'once' : 'shapeless');
      return read;
    }
    if (known === 'shapeless') return readAnew();
    const shape = known === 'once' ? shapeOrNone(lifted, parse) : known;
    this.#known.set(key, shape ?? 'shapeless');
    if (shape === undefined) return readAnew();
    const { statement } = shape;
    if (statement.condition === undefined) return readAs(statement, shape);
    const condition = shape.conditionOf(lifted.values);
    return condition === undefined ? readAnew() : readAs({ ...statement, condition }, shape);
  }
}

function readAs(statement: SelectStatement, shape: Shape): ReadText {
  return {
    statements: [statement],
    compiled: (env) => {
      const { compiled } = shape;
      if (compiled === undefined) return undefined;
      const source = sameTable(statement, compiled, env);
      if (source === undefined) return undefined;
      return recompileSelect({ ...compiled, sources: [source] }, statement, env);
    },
    remember: (select) => {
      const [source] = select.sources;
      if (select.sources.length === 1 && source?.kind === 'table') shape.compiled = select;
    },
  };
}

/** Returns the table of the statement, or `undefined` if it is another table or has changed. */
function sameTable(
  { sources }: SelectStatement,
  compiled: CompiledSelect,
  env: Environment,
): TableSource | undefined {
  const [source] = sources;
  const [before] = compiled.sources;
  invariant(
    source !== undefined && source.kind !== 'subquery',
    'a prepared SELECT must have one measurement',
  );
  if (before?.kind !== 'table') return undefined;
  const [found] = findTables(source, env);
  return found?.table === before.table ? found : undefined;
}

function shapeOrNone(lifted: LiftedText, parse: Reading['parse']): Shape | undefined {
  try {
    return shapeOf(lifted, parse);
  } catch (error) {
    // The original text may be valid, or contain another error that should be reported.
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}

/**
 * Parses the statement with markers instead of its values. Returns `undefined` if it does not
 * select from one named measurement or has values outside its condition.
 */
function shapeOf(lifted: LiftedText, parse: Reading['parse']): Shape | undefined {
  const markers = lifted.values.map(markerOf);
  const statements = parse(lifted.textWith(markers));
  const [statement] = statements;
  if (statements.length !== 1 || statement?.kind !== 'select') return undefined;
  const [source] = statement.sources;
  const isPlain =
    statement.sources.length === 1 &&
    source?.kind !== 'subquery' &&
    typeof source?.name === 'string' &&
    statement.into === undefined &&
    // The bucket offset may depend on now().
    statement.dimensions.every(
      (dimension) =>
        dimension.kind !== 'call' || dimension.args.every(({ kind }) => kind === 'duration'),
    );
  if (!isPlain) return undefined;
  const places = new Places(lifted.values);
  const make = statement.condition === undefined ? undefined : places.makerOf(statement.condition);
  if (!places.areAllFound) return undefined;
  return {
    statement,
    compiled: undefined,
    conditionOf(values) {
      const exprs: Expr[] = [];
      for (const value of values) {
        const expr = exprOf(value);
        if (expr === undefined) return undefined;
        exprs.push(expr);
      }
      return make?.(exprs);
    },
  };
}

/** Returns a distinct value of the same kind that does not occur in real statements. */
function markerOf(value: LiftedValue, index: number): string {
  return value.kind === 'string' ? `\u0001${index}` : String(FIRST_MARKER + index);
}

/** Has the minimum digit count of a lifted value. In seconds it fits into 64-bit nanoseconds. */
const FIRST_MARKER = 1_000_000_007;

/**
 * Returns the expression for a value, or `undefined` if the parser would reject it or read it
 * differently.
 */
function exprOf(value: LiftedValue): Expr | undefined {
  if (value.kind === 'string') return { kind: 'string', value: value.text };
  const count = BigInt(value.digits) * (NS_PER_UNIT.get(value.unit) ?? 1n);
  if (count > MAX_INT64) return undefined;
  return value.unit === '' ? { kind: 'integer', value: count } : { kind: 'duration', ns: count };
}

type Maker = (values: readonly Expr[]) => Expr;

/** Finds the markers in a condition. */
class Places {
  readonly #indexes: ReadonlyMap<string, number>;
  readonly #found = new Set<number>();
  readonly #count: number;
  #isAmbiguous = false;

  constructor(values: readonly LiftedValue[]) {
    this.#count = values.length;
    this.#indexes = new Map(
      values.map((value, i) => {
        const marker = markerOf(value, i);
        const expr = exprOf(
          value.kind === 'string' ? { ...value, text: marker } : { ...value, digits: marker },
        );
        return [keyOf(expr) ?? '', i];
      }),
    );
  }

  get areAllFound(): boolean {
    return !this.#isAmbiguous && this.#found.size === this.#count;
  }

  /** Returns a function that rebuilds the condition with values instead of markers. */
  makerOf(expr: Expr): Maker {
    const index = this.#indexes.get(keyOf(expr) ?? '');
    if (index !== undefined) {
      if (this.#found.has(index)) this.#isAmbiguous = true;
      this.#found.add(index);
      return (values) => values[index] as Expr; // as many values as the shape has
    }
    const before = this.#found.size;
    switch (expr.kind) {
      case 'binary': {
        const left = this.makerOf(expr.left);
        const right = this.makerOf(expr.right);
        if (this.#found.size === before) break;
        return (values) => ({ ...expr, left: left(values), right: right(values) });
      }
      case 'paren': {
        const inner = this.makerOf(expr.inner);
        if (this.#found.size === before) break;
        return (values) => ({ ...expr, inner: inner(values) });
      }
      case 'call': {
        const args = expr.args.map((arg) => this.makerOf(arg));
        if (this.#found.size === before) break;
        return (values) => ({ ...expr, args: args.map((arg) => arg(values)) });
      }
      default:
    }
    return () => expr;
  }
}

function keyOf(expr: Expr | undefined): string | undefined {
  switch (expr?.kind) {
    case 'string':
      return `s${expr.value}`;
    case 'integer':
      return `i${expr.value}`;
    case 'duration':
      return `d${expr.ns}`;
    default:
      return undefined;
  }
}
