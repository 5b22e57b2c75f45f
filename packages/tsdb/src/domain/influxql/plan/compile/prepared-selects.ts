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

/** A text that was read, and how to remember what became of it. */
export interface ReadText {
  readonly statements: readonly Statement[];
  /** The compiled form of the only statement, when its shape is known and the table is as it was. */
  compiled(env: Environment): CompiledSelect | undefined;
  /** The only statement compiled to this. */
  remember(select: CompiledSelect): void;
}

/** A SELECT of one table of which all values stand in the condition. */
interface Shape {
  readonly statement: SelectStatement;
  /** `undefined`: a value is not of the kind that the shape has. */
  conditionOf(values: readonly LiftedValue[]): Expr | undefined;
  compiled: CompiledSelect | undefined;
}

/** How a text is read that is not known. */
interface Reading {
  /** What else decides what a text means. */
  readonly scope: string;
  parse(text: string): readonly Statement[];
}

type Known = 'once' | 'shapeless' | Shape;

/**
 * Remembers SELECTs apart from their values. A text whose shape is known is neither parsed nor compiled: its values take
 * their places in the condition, and the condition alone is worked out again, as it would be for a new text.
 */
export class PreparedSelects {
  readonly #known: Memo<string, Known>;

  constructor(options: { readonly maxCount: number }) {
    this.#known = new Memo(options);
  }

  /** Throws what `parse` does. */
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

/** The statement's table, unless it is another one than before or has changed. */
function sameTable(
  { sources }: SelectStatement,
  compiled: CompiledSelect,
  env: Environment,
): TableSource | undefined {
  const [source] = sources;
  const [before] = compiled.sources;
  invariant(source !== undefined && source.kind !== 'subquery', 'a shape has one measurement');
  if (before?.kind !== 'table') return undefined;
  const [found] = findTables(source, env);
  return found?.table === before.table ? found : undefined;
}

function shapeOrNone(lifted: LiftedText, parse: Reading['parse']): Shape | undefined {
  try {
    return shapeOf(lifted, parse);
  } catch (error) {
    // The text itself may be right, or have a mistake of its own to be told.
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}

/**
 * The statement read with markers in the places of its values. `undefined`: it is no SELECT of one named measurement, or
 * something stands elsewhere than in its condition.
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
    // The beginning of a bucket may be told by now().
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

/** Distinct values of the same kinds that no statement has by chance. */
function markerOf(value: LiftedValue, index: number): string {
  return value.kind === 'string' ? `\u0001${index}` : String(FIRST_MARKER + index);
}

/** As many digits as a value has at least; seconds of these fit 64 bits in nanoseconds. */
const FIRST_MARKER = 1_000_000_007;

/** What the parser makes of a value; `undefined` where it would refuse it, or take it for something else. */
function exprOf(value: LiftedValue): Expr | undefined {
  if (value.kind === 'string') return { kind: 'string', value: value.text };
  const count = BigInt(value.digits) * (NS_PER_UNIT.get(value.unit) ?? 1n);
  if (count > MAX_INT64) return undefined;
  return value.unit === '' ? { kind: 'integer', value: count } : { kind: 'duration', ns: count };
}

type Maker = (values: readonly Expr[]) => Expr;

/** Where in a condition the markers stand. */
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

  /** How to make the condition with values in the places of the markers. */
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
