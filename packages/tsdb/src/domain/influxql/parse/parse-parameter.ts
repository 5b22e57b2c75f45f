import type { Expr } from '../ast/expr.js';
import { Scanner } from './scanner.js';

/**
 * The literal of a parameter `{"<type>": <value>}`; `undefined`: there is no such type, or the value is none of it.
 * @param text a string, or the text of a number or a boolean. Source: query-languages, "Parameters".
 */
export function parseParameter(type: string, text: string): Expr | undefined {
  switch (type) {
    case 'regex':
      return { kind: 'regex', source: text };
    case 'identifier':
      return { kind: 'var_ref', name: text };
    case 'string':
      return { kind: 'string', value: text };
    case 'boolean':
      return text === 'true' || text === 'false'
        ? { kind: 'boolean', value: text === 'true' }
        : undefined;
    case 'float':
      return text.trim() !== '' && Number.isFinite(Number(text))
        ? { kind: 'number', value: Number(text) }
        : undefined;
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

function durationOf(text: string): Expr | undefined {
  if (!/^\d/.test(text)) return undefined;
  const scanner = new Scanner(text);
  const token = scanner.next();
  return token.kind === 'duration' && scanner.peek().kind === 'end'
    ? { kind: 'duration', ns: token.ns }
    : undefined;
}
