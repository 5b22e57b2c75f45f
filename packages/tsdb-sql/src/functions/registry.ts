import type { FunctionDefinition } from './function-definition.js';

/** Functions by name and alias. */
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

  /** Returns all names and aliases, ascending. */
  names(): readonly string[] {
    return [...this.#byName.keys()].sort();
  }

  /** Returns the known name with the smallest edit distance to `name`. */
  nearest(name: string): string | undefined {
    let [best, bestDistance]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const known of this.#byName.keys()) {
      const distance = editDistance(name, known);
      if (distance < bestDistance) [best, bestDistance] = [known, distance];
    }
    return best;
  }
}

/** Returns the Levenshtein distance of the first 64 characters. */
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
