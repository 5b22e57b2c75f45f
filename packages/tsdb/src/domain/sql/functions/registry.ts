import type { FunctionDefinition } from './function-definition.js';

/** Functions by every name they have. */
export class FunctionRegistry {
  readonly #byName = new Map<string, FunctionDefinition>();

  constructor(definitions: readonly FunctionDefinition[]) {
    for (const definition of definitions) {
      for (const name of definition.names) this.#byName.set(name, definition);
    }
  }

  find(name: string): FunctionDefinition | undefined {
    return this.#byName.get(name);
  }

  /** All names, aliases among them, ascending. */
  names(): readonly string[] {
    return [...this.#byName.keys()].sort();
  }

  /** The known name that takes the fewest edits from `name`. */
  nearest(name: string): string | undefined {
    let [best, bestDistance]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const known of this.#byName.keys()) {
      const distance = editDistance(name, known);
      if (distance < bestDistance) [best, bestDistance] = [known, distance];
    }
    return best;
  }
}

/** Levenshtein distance; texts beyond 64 characters are compared by their beginning. */
function editDistance(a: string, b: string): number {
  const [from, to] = [a.slice(0, 64), b.slice(0, 64)];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[to.length] ?? 0;
}
