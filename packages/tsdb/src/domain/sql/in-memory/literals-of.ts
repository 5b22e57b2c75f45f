import type { Expr, LiteralNode, Statement } from '../parse/ast.js';

/**
 * The string literals of a WHERE in the order of the text, outside of intervals. `undefined` when some literal or parameter
 * stands elsewhere in the statement, or when these are not the literals that the text has.
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

/** Literals and parameters. The texts of intervals are no literals: they stay in the text. */
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
