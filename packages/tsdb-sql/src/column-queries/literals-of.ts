import type { Expr, LiteralNode, Statement } from '../parse/ast.js';

/**
 * Returns the string literals of a WHERE clause in text order, except interval literals. Returns
 * `undefined` if the statement has literals or parameters elsewhere, or if they differ from
 * `texts`.
 */
export function literalsOf(
  statement: Statement,
  selection: Expr | undefined,
  texts: readonly string[],
): readonly LiteralNode[] | undefined {
  const found = valuesIn(selection);
  if (found.length !== valuesIn(statement).length) return undefined;
  const literals = found.filter((node) => textOf(node) !== undefined).sort(byPlace);
  const isSame =
    literals.length === texts.length && literals.every((node, i) => textOf(node) === texts[i]);
  return isSame ? literals : undefined;
}

/** Returns literals and parameters, except the strings of intervals, which are part of the cache key. */
function valuesIn(node: unknown, isInterval = false): readonly LiteralNode[] {
  if (typeof node !== 'object' || node === null) return [];
  const value = 'value' in node ? node.value : undefined;
  if (typeof value === 'object' && value !== null) {
    if ('Placeholder' in value || ('SingleQuotedString' in value && !isInterval))
      return [node as LiteralNode];
  }
  return Object.entries(node).flatMap(([key, part]) =>
    valuesIn(part, isInterval || key === 'Interval'),
  );
}

function textOf({ value }: LiteralNode): unknown {
  return typeof value === 'object' ? value['SingleQuotedString'] : undefined;
}

function byPlace(a: LiteralNode, b: LiteralNode): number {
  const [x, y] = [a.span?.start, b.span?.start];
  return x === undefined || y === undefined ? 0 : x.line - y.line || x.column - y.column;
}
