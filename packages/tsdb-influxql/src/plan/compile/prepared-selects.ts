import { invariant, Memo } from '@plinth/kernel';
import { MAX_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import type { Expr } from '../../ast/expressions.js';
import type { SelectStatement } from '../../ast/select.js';
import type { Statement } from '../../ast/statements.js';
import { type LiftedText, type LiftedValue, liftValues } from '../../parse/lift-values.js';
import { ParseError } from '../../parse/parse-error.js';
import { NS_PER_UNIT } from '../../parse/scanner.js';
import type { Environment } from '../environment.js';
import { recompileSelect } from './compile-select.js';
import type { CompiledSelect } from './compiled-select.js';
import { findTables } from './find-sources.js';
import type { TableSource } from './source.js';

/** A parsed text, with access to its cache entry. */
export interface ParsedText {
  readonly statements: readonly Statement[];
  /**
   * Returns the compiled form of the only statement if its template is cached and the table is
   * unchanged.
   */
  compiled(env: Environment): CompiledSelect | undefined;
  /** Caches the compiled form of the only statement. */
  remember(select: CompiledSelect): void;
}

/** A SELECT of one table whose values all occur in its condition, without these values. */
interface SelectTemplate {
  readonly statement: SelectStatement;
  /** Returns `undefined` if the kind of a value differs from the template. */
  conditionOf(values: readonly LiftedValue[]): Expr | undefined;
  compiled: CompiledSelect | undefined;
}

/** Parse function and scope of a text that is not cached. */
interface ParseOptions {
  /** All other inputs that determine the meaning of a text. */
  readonly scope: string;
  parse(text: string): readonly Statement[];
}

/** `once`: the text was seen once. `no_template`: it cannot be cached. */
type Known = 'once' | 'no_template' | SelectTemplate;

/**
 * Caches SELECTs independently of their values (see `liftValues`). A text that differs from an earlier
 * one only in values is neither parsed nor compiled. Its values are put into the condition, and only
 * the condition is compiled again.
 */
export class PreparedSelects {
  readonly #known: Memo<string, Known>;

  constructor(options: { readonly maxCount: number }) {
    this.#known = new Memo(options);
  }

  /** Throws the errors of `parse`. */
  read(text: string, { scope, parse }: ParseOptions): ParsedText {
    const parseText = (): ParsedText => ({
      statements: parse(text),
      compiled: () => undefined,
      remember: () => undefined,
    });
    const lifted = liftValues(text);
    if (lifted === undefined) return parseText();
    const key = `${scope}\0${lifted.key}`;
    const known = this.#known.get(key);
    if (known === undefined) {
      const read = parseText();
      this.#known.set(key, read.statements.length === 1 ? 'once' : 'no_template');
      return read;
    }
    if (known === 'no_template') return parseText();
    const template = known === 'once' ? templateOrNone(lifted, parse) : known;
    this.#known.set(key, template ?? 'no_template');
    if (template === undefined) return parseText();
    const { statement } = template;
    if (statement.condition === undefined) return fromTemplate(statement, template);
    const condition = template.conditionOf(lifted.values);
    return condition === undefined
      ? parseText()
      : fromTemplate({ ...statement, condition }, template);
  }
}

function fromTemplate(statement: SelectStatement, template: SelectTemplate): ParsedText {
  return {
    statements: [statement],
    compiled: (env) => {
      const { compiled } = template;
      if (compiled === undefined) return undefined;
      const source = sameTable(statement, compiled, env);
      if (source === undefined) return undefined;
      return recompileSelect({ ...compiled, sources: [source] }, statement, env);
    },
    remember: (select) => {
      const [source] = select.sources;
      if (select.sources.length === 1 && source?.kind === 'table') template.compiled = select;
    },
  };
}

/** Returns the table that the statement reads, or `undefined` if it is not the table of the compiled statement. */
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

function templateOrNone(
  lifted: LiftedText,
  parse: ParseOptions['parse'],
): SelectTemplate | undefined {
  try {
    return templateOf(lifted, parse);
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
function templateOf(lifted: LiftedText, parse: ParseOptions['parse']): SelectTemplate | undefined {
  const markers = lifted.values.map(markerOf);
  const statements = parse(lifted.textWith(markers));
  const [statement] = statements;
  if (statements.length !== 1 || statement?.kind !== 'select') return undefined;
  const [source] = statement.sources;
  const isSupported =
    statement.sources.length === 1 &&
    source?.kind !== 'subquery' &&
    typeof source?.name === 'string' &&
    statement.into === undefined &&
    // The bucket offset may depend on now().
    statement.dimensions.every(
      (dimension) =>
        dimension.kind !== 'call' || dimension.args.every(({ kind }) => kind === 'duration'),
    );
  if (!isSupported) return undefined;
  const markerFinder = new MarkerFinder(lifted.values);
  const make =
    statement.condition === undefined ? undefined : markerFinder.makerOf(statement.condition);
  if (!markerFinder.areAllFound) return undefined;
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
class MarkerFinder {
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
      return (values) => values[index] as Expr; // as many values as the template has
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
