import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import type { Expr } from '../ast/expressions.js';
import { type BoundNumber, type BoundTokens, Scanner } from './scanner.js';

/**
 * Returns the literal of a parameter `{"<type>": <value>}`, or `undefined` if the type is unknown
 * or the value invalid.
 * @param text a string, or the text of a number or a boolean.
 * Source: query-languages, "Parameters".
 */
export function parseParameter(type: string, text: string): Expr | undefined {
  switch (type) {
    case 'regex':
      return { kind: 'regex', source: text };
    case 'ident':
    case 'identifier':
      return { kind: 'var_ref', name: text };
    case 'string':
      return { kind: 'string', value: text };
    case 'boolean':
      return text === 'true' || text === 'false'
        ? { kind: 'boolean', value: text === 'true' }
        : undefined;
    case 'float':
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text))
        ? { kind: 'number', value: Number(text) }
        : undefined;
    case 'int':
    case 'integer':
      return /^-?\d{1,19}$/.test(text) ? { kind: 'integer', value: BigInt(text) } : undefined;
    case 'unsigned':
      return /^\d{1,20}$/.test(text) ? { kind: 'unsigned', value: BigInt(text) } : undefined;
    case 'duration':
      return durationOf(text);
    default:
      return undefined;
  }
}

/** Returns the parameters that the scanner replaces, for places where no expression is parsed. */
export function boundTokens(
  params: ReadonlyMap<string, ParameterValue | { readonly literal: Expr }>,
): BoundTokens {
  const bound = new Map<string, string | BoundNumber>();
  for (const [name, value] of params) {
    const token = boundToken(value);
    if (token !== undefined) bound.set(name, token);
  }
  return bound;
}

function boundToken(
  value: ParameterValue | { readonly literal: Expr },
): string | BoundNumber | undefined {
  if (typeof value === 'bigint') return value < 0n ? undefined : { kind: 'integer', value };
  if (typeof value !== 'object' || value === null || !('literal' in value)) return undefined;
  const { literal } = value;
  switch (literal.kind) {
    case 'var_ref':
      return literal.name;
    case 'integer':
      return literal.value < 0n ? undefined : { kind: 'integer', value: literal.value };
    case 'duration':
      return { kind: 'duration', ns: literal.ns };
    default:
      return undefined;
  }
}

/** Parses `10s`, or nanoseconds as Go clients write a duration. */
function durationOf(text: string): Expr | undefined {
  if (/^\d{1,18}$/.test(text)) return { kind: 'duration', ns: BigInt(text) };
  if (!/^\d/.test(text)) return undefined;
  const scanner = new Scanner(text);
  const token = scanner.next();
  return token.kind === 'duration' && scanner.peek().kind === 'end'
    ? { kind: 'duration', ns: token.ns }
    : undefined;
}
