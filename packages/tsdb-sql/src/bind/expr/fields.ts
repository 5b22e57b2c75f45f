import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { quoteString } from '../../emit/quote.js';
import { type ExprNodes, nameOf } from '../../parse/ast.js';
import type { Env } from '../session.js';
import { type Bound, constantExpr, derive, INT64, NULL } from '../types/bound.js';
import { convert } from './convert.js';

/** Binds a chain of `x['field']`, `x[1]`, `x[1:2]` and `f(x).field`. */
export function bindFieldAccess(node: ExprNodes['CompoundFieldAccess'], env: Env): Bound {
  const { root, chain } = splitQualifiedRoot(node);
  return chain.reduce<Bound>(
    (value, access) => {
      if ('Dot' in access) {
        if ('Identifier' in access.Dot) return fieldOf(value, nameOf(access.Dot.Identifier));
        throw tsdbError('not_implemented', 'field access with an expression after the dot');
      }
      if ('Slice' in access.Subscript) return sliceOf(value, access.Subscript.Slice, env);
      const index = env.session.bindExpr(access.Subscript.Index.index, env);
      return elementOf(value, index);
    },
    env.session.bindExpr(root, env),
  );
}

/** The parser reads `t.c['x']` as field access on `t`; this joins the leading names. */
function splitQualifiedRoot(node: ExprNodes['CompoundFieldAccess']): {
  readonly root: ExprNodes['CompoundFieldAccess']['root'];
  readonly chain: ExprNodes['CompoundFieldAccess']['access_chain'];
} {
  if (!('Identifier' in node.root)) return { root: node.root, chain: node.access_chain };
  const names = [node.root.Identifier];
  let taken = 0;
  for (const access of node.access_chain) {
    if (!('Dot' in access && 'Identifier' in access.Dot)) break;
    names.push(access.Dot.Identifier);
    taken++;
  }
  const root = taken === 0 ? node.root : { CompoundIdentifier: names };
  return { root, chain: node.access_chain.slice(taken) };
}

/** Returns the fields of a struct as separate columns, or `undefined` for another type. */
export function fieldsOf(
  value: Bound,
): readonly { readonly name: string; readonly value: Bound }[] | undefined {
  if (value.type.kind !== 'struct') return undefined;
  return value.type.fields.map(({ name }) => ({
    name: `${value.displayName}.${name}`,
    value: fieldOf(value, name),
  }));
}

export function fieldOf(value: Bound, field: string): Bound {
  const { type } = value;
  const displayName = `${value.displayName}[${field}]`;
  if (type.kind === 'struct') {
    const member = type.fields.find((candidate) => candidate.name === field);
    if (member === undefined) {
      throw tsdbError('plan_error', `Error during planning: Field ${field} not found in struct`);
    }
    return derive([value], {
      text: `struct_extract(${value.text}, ${quoteString(field)})`,
      type: member.type,
      displayName,
    });
  }
  if (type.kind === 'map') {
    const key = { ...value, text: quoteString(field) };
    return derive([value], {
      text: `element_at(${value.text}, ${key.text})[1]`,
      type: type.value,
      displayName,
    });
  }
  throw tsdbError(
    'plan_error',
    'Error during planning: The expression to get an indexed field is only valid for `List`, `Struct`, ' +
      `\`Map\` or \`Null\` types, got ${arrowTypeName(type)}.`,
  );
}

function elementOf(value: Bound, index: Bound): Bound {
  const key = index.constant?.value;
  if (typeof key === 'string' && value.type.kind !== 'list') return fieldOf(value, key);
  const displayName = `${value.displayName}[${index.displayName}]`;
  if (value.type.kind === 'list') {
    return derive([value, index], {
      text: `list_extract(${value.text}, ${convert(index, INT64).text})`,
      type: value.type.element,
      displayName,
    });
  }
  return fieldOf(value, String(key));
}

function sliceOf(
  value: Bound,
  slice: {
    readonly lower_bound?: ExprNodes['Nested'];
    readonly upper_bound?: ExprNodes['Nested'];
    readonly stride?: ExprNodes['Nested'];
  },
  env: Env,
): Bound {
  const bounds = [slice.lower_bound, slice.upper_bound, slice.stride].map(
    (bound) => bound && convert(env.session.bindExpr(bound, env), INT64),
  );
  const [lower, upper, stride] = bounds;
  // Absent bounds are displayed as their defaults.
  const shown = [lower, upper, stride].map(
    (bound, index) => bound?.displayName ?? `Int64(${[1, -1, 1][index]})`,
  );
  if (value.type.kind === 'null') return constantExpr(null, NULL, value.displayName);
  if (value.type.kind !== 'list') {
    throw tsdbError(
      'plan_error',
      `Error during planning: Failed to coerce arguments to satisfy a call to 'array_slice' function: coercion from ${arrowTypeName(value.type)} failed`,
    );
  }
  const texts = [lower?.text ?? '1', upper?.text ?? '-1', ...(stride ? [stride.text] : [])];
  return derive([value, ...bounds.filter((bound) => bound !== undefined)], {
    text: `list_slice(${value.text}, ${texts.join(', ')})`,
    type: value.type,
    displayName: `${value.displayName}[${shown.join(':')}]`,
  });
}
