/** Longer ones find no name there can be, and would take long not to. */
const MAX_PATTERN_LENGTH = 1024;

/** What a pattern of SQL's LIKE finds; without one everything. `\` takes the next character as it is. */
export function matchesLike(text: string, pattern: string | undefined): boolean {
  if (pattern === undefined || pattern === '') return true;
  if (pattern.length > MAX_PATTERN_LENGTH) return false;
  // Places in the pattern where matching may go on; a list of them, so that no pattern takes long.
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

/** `%` may also stand for nothing. */
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
