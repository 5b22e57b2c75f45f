import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { callNode, type Expr, type ExprNodes } from '../../parse/ast.js';
import type { Env } from '../session.js';
import type { Bound } from '../types/bound.js';

/** Binds special call syntax: `EXTRACT(year FROM t)` is `date_part('year', t)`. */
export function bindExtract(node: ExprNodes['Extract'], env: Env): Bound {
  return call('date_part', [textExpr(extractedPart(node.field)), node.expr], env);
}

/**
 * Returns the name of a field. Fields with options, such as `week(monday)`, and custom fields are
 * objects.
 */
function extractedPart(field: ExprNodes['Extract']['field']): string {
  if (typeof field === 'string') return field.toUpperCase();
  if ('Week' in field) return 'WEEK';
  const custom = (field as { readonly Custom?: { readonly value: string } }).Custom;
  if (custom !== undefined) return custom.value;
  throw tsdbError('not_implemented', `EXTRACT of ${JSON.stringify(field)}`);
}

export function bindTrim(node: ExprNodes['Trim'], env: Env): Bound {
  const name = { Both: 'btrim', Leading: 'ltrim', Trailing: 'rtrim' }[node.trim_where ?? 'Both'];
  const characters = node.trim_what ?? node.trim_characters?.[0];
  return call(name, characters === undefined ? [node.expr] : [node.expr, characters], env);
}

export function bindPosition(node: ExprNodes['Position'], env: Env): Bound {
  return call('strpos', [node.in, node.expr], env);
}

export function bindSubstring(node: ExprNodes['Substring'], env: Env): Bound {
  const from = node.substring_from ?? numberExpr(1);
  return call(
    'substr',
    [node.expr, from, ...(node.substring_for ? [node.substring_for] : [])],
    env,
  );
}

export function bindOverlay(node: ExprNodes['Overlay'], env: Env): Bound {
  const { expr, overlay_what, overlay_from, overlay_for } = node;
  return call(
    'overlay',
    [expr, overlay_what, overlay_from, ...(overlay_for ? [overlay_for] : [])],
    env,
  );
}

export function bindRounding(name: 'ceil' | 'floor', node: ExprNodes['Ceil'], env: Env): Bound {
  const { DateTimeField } = node.field as { readonly DateTimeField?: string };
  if (DateTimeField === 'NoDateTime') return call(name, [node.expr], env);
  throw tsdbError(
    'not_implemented',
    `${name.toUpperCase()} with datetime or scale is not supported`,
  );
}

export function bindAtTimeZone(node: ExprNodes['AtTimeZone'], env: Env): Bound {
  return call('at_time_zone', [node.timestamp, node.time_zone], env);
}

export function bindArray(node: ExprNodes['Array'], env: Env): Bound {
  return call('make_array', node.elem, env);
}

export function bindTuple(values: readonly Expr[], env: Env): Bound {
  return call('struct', values, env);
}

/** Binds `struct(a AS x, b)`; unnamed fields are named by position. */
export function bindStruct({ values, fields }: ExprNodes['Struct'], env: Env): Bound {
  if (fields.length > 0) throw tsdbError('not_implemented', 'Struct fields are not supported yet');
  if (!values.some((value) => 'Named' in value)) return bindTuple(values as readonly Expr[], env);
  const named = values.flatMap((value, index) =>
    'Named' in value
      ? [textExpr(value.Named.name.value), value.Named.expr]
      : [textExpr(`c${index}`), value],
  );
  return call('named_struct', named, env);
}

export function bindDictionary(entries: ExprNodes['Dictionary'], env: Env): Bound {
  return call(
    'named_struct',
    entries.flatMap(({ key, value }) => [textExpr(key.value), value]),
    env,
  );
}

/** Binds `MAP {'a': 1}`. */
export function bindMap({ entries }: ExprNodes['Map'], env: Env): Bound {
  const [keys, values] = [entries.map(({ key }) => key), entries.map(({ value }) => value)];
  return call('map', [{ Array: { elem: keys } }, { Array: { elem: values } }], env);
}

function call(name: string, args: readonly Expr[], env: Env): Bound {
  return env.session.bindExpr(callNode(name, args), env);
}

function textExpr(text: string): Expr {
  return { Value: { value: { SingleQuotedString: text } } };
}

function numberExpr(value: number): Expr {
  return { Value: { value: { Number: [String(value), false] } } };
}
