/** Longer patterns match no valid name and are not evaluated. */
const MAX_PATTERN_LENGTH = 1024;

/**
 * Returns whether a text matches a SQL LIKE pattern. An absent pattern matches everything; `\` escapes the next
 * character.
 */
export function matchesLike(text: string, pattern: string | undefined): boolean {
  if (pattern === undefined || pattern === '') return true;
  if (pattern.length > MAX_PATTERN_LENGTH) return false;
  // Tracks a set of pattern positions, so that matching is not exponential.
  const steps = [...pattern.matchAll(/\\([\s\S])|([\s\S])/gu)].map(([, escaped, plain]) =>
    escaped === undefined
      ? { char: plain, isWild: plain === '%' || plain === '_' }
      : { char: escaped, isWild: false },
  );
  let states = reach(new Set([0]), steps);
  for (const char of text) {
    const next = new Set<number>();
    for (const state of states) {
      const step = steps[state];
      if (step === undefined) continue;
      if (step.isWild && step.char === '%') next.add(state);
      else if (step.isWild || step.char === char) next.add(state + 1);
    }
    states = reach(next, steps);
  }
  return states.has(steps.length);
}

/** Adds the positions that are reachable because `%` also matches an empty string. */
function reach(
  states: Set<number>,
  steps: readonly { readonly char: string | undefined; readonly isWild: boolean }[],
): Set<number> {
  for (const state of states) {
    const step = steps[state];
    if (step?.isWild && step.char === '%') states.add(state + 1);
  }
  return states;
}
