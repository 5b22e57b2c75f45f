import type { Expr } from '../ast/expressions.js';
import type { TagKeyFilter } from '../ast/statements.js';
import { compileRegex } from '../plan/condition/regex.js';

/** Returns a function that checks whether `WITH KEY` matches a tag. */
export function keyTest(filter: TagKeyFilter): (key: string) => boolean {
  switch (filter.op) {
    case '=':
      return (key) => key === filter.key;
    case '!=':
      return (key) => key !== filter.key;
    case 'IN': {
      const keys = new Set(filter.keys);
      return (key) => keys.has(key);
    }
    default: {
      const regex = compileRegex(filter.regex.source);
      return (key) => regex.test(key) === (filter.op === '=~');
    }
  }
}

/** Returns the tags that `WITH KEY` selects by name. */
export function namedKeys(filter: TagKeyFilter): readonly Expr[] {
  const names = filter.op === '=' ? [filter.key] : filter.op === 'IN' ? filter.keys : [];
  return names.map((name) => ({ kind: 'var_ref', name }));
}
