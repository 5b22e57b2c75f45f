import type { Call, Expr, VarRef } from '../../ast/expressions.js';
import type { DataType } from '../data-type.js';
import { SCALARS } from '../functions.js';
import { planFailure } from '../plan-failure.js';
import { isTime } from './column-names.js';
import type { ColumnRef, CompiledCall, SlotExpr } from './compiled-select.js';
import type { SourceColumns } from './source.js';
import { typeOfExpr, typeOfRef } from './source-columns.js';

/** Slot numbers from this value on refer to columns; smaller ones refer to calls. */
export const COLUMN_SLOTS = 1_000_000;
/** Slot number of the row's time. */
export const TIME_SLOT = -1;

/** Assigns a slot to each distinct call and column of a statement. */
export class Slots {
  readonly calls: CompiledCall[] = [];
  readonly columns: ColumnRef[] = [];
  readonly #source: SourceColumns;
  readonly #arguments: SourceColumns;
  readonly #callIndex = new Map<string, number>();
  readonly #columnIndex = new Map<string, { index: number }>();

  /** @param args columns in which the arguments of calls are resolved. */
  constructor(source: SourceColumns, args: SourceColumns) {
    this.#source = source;
    this.#arguments = args;
  }

  compile(expr: Expr): SlotExpr {
    const isCall = expr.kind === 'distinct' || (expr.kind === 'call' && !SCALARS.has(expr.name));
    const type = typeOfExpr(expr, isCall ? this.#arguments : this.#source);
    switch (expr.kind) {
      case 'paren':
        return this.compile(expr.inner);
      case 'var_ref':
        return this.#column(expr, type);
      case 'distinct':
        return this.#call(
          { kind: 'call', name: 'distinct', args: [{ kind: 'var_ref', name: expr.column }] },
          type,
        );
      case 'call':
        if (!SCALARS.has(expr.name)) return this.#call(expr, type);
        return {
          kind: 'scalar',
          name: expr.name,
          args: expr.args.map((arg) => this.compile(arg)),
          type,
        };
      case 'binary':
        return {
          kind: 'binary',
          op: expr.op as Extract<SlotExpr, { kind: 'binary' }>['op'], // the parser rejects others in a select list
          left: this.compile(expr.left),
          right: this.compile(expr.right),
          type,
        };
      case 'integer':
      case 'unsigned':
      case 'number':
      case 'string':
      case 'boolean':
        return { kind: 'constant', value: expr.value, type };
      case 'duration':
        return { kind: 'constant', value: expr.ns, type: 'integer' };
      default:
        throw planFailure('field must contain at least one variable');
    }
  }

  #column(ref: VarRef, type: DataType): SlotExpr {
    if (isTime(ref) && type === 'time') return { kind: 'slot', index: TIME_SLOT, type: 'time' };
    const key = `${ref.name}\0${ref.cast ?? ''}`;
    let known = this.#columnIndex.get(key);
    if (known === undefined) {
      known = { index: this.columns.length };
      this.#columnIndex.set(key, known);
      this.columns.push(columnRef(ref, type));
    }
    return { kind: 'slot', index: COLUMN_SLOTS + known.index, type };
  }

  #call(call: Call, type: DataType): SlotExpr {
    const compiled = compileCall(call, this.#arguments);
    const key = JSON.stringify(compiled, (_, value: unknown) =>
      typeof value === 'bigint' ? `${value}n` : value,
    );
    let index = this.#callIndex.get(key);
    if (index === undefined) {
      index = this.calls.length;
      this.#callIndex.set(key, index);
      this.calls.push(compiled);
    }
    return { kind: 'slot', index, type };
  }
}

function columnRef(ref: VarRef, type: DataType): ColumnRef {
  return { name: ref.name, type, isTag: type === 'tag' };
}

function compileCall(call: Call, source: SourceColumns): CompiledCall {
  const [first, ...others] = call.args;
  const type = typeOfExpr(call, source);
  const argument = argumentOf(first, source);
  const isTop = call.name === 'top' || call.name === 'bottom';
  const dimensions = isTop
    ? // `validateFields` allows only columns here.
      call.args
        .slice(1, -1)
        .map((arg) => columnRef(arg as VarRef, typeOfRef(arg as VarRef, source)))
    : [];
  const options = (isTop ? call.args.slice(-1) : others).flatMap((arg) => {
    switch (arg.kind) {
      case 'integer':
      case 'number':
      case 'string':
        return [arg.value];
      case 'duration':
        return [arg.ns];
      default:
        return [];
    }
  });
  return { name: call.name, argument, options, dimensions, type };
}

function argumentOf(first: Expr | undefined, source: SourceColumns): CompiledCall['argument'] {
  if (first?.kind === 'call') return { kind: 'call', call: compileCall(first, source) };
  if (first?.kind === 'distinct') {
    const call: Call = {
      kind: 'call',
      name: 'distinct',
      args: [{ kind: 'var_ref', name: first.column }],
    };
    return { kind: 'call', call: compileCall(call, source) };
  }
  const ref = first as VarRef; // `validateFields` allows no other arguments
  return { kind: 'column', ref: columnRef(ref, typeOfRef(ref, source)) };
}
