import { regexEffort } from '../../../../model/regex-effort.js';
import { planFailure } from '../plan-failure.js';

/** Steps that one statement may take before it is run: some tens of milliseconds, which nothing interrupts. */
const MAX_STEPS = 1_500_000;
/** Of compiling a regular expression: for each character, and more for what is repeated. */
const STEPS_PER_CHARACTER = 80;
const STEPS_PER_REPETITION = 400;
const TOO_MUCH =
  'the statement is too complex: its regular expressions repeat too much for so many names';

/** Counts what planning a statement takes, so that no statement holds others up. The count is the same on every machine. */
export class PlanEffort {
  readonly #mayHaveRegexes: boolean;
  #left = MAX_STEPS;

  constructor(options: { readonly mayHaveRegexes: boolean }) {
    this.#mayHaveRegexes = options.mayHaveRegexes;
  }

  /** Throws `plan_error` when it has been too much. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw planFailure(TOO_MUCH);
  }

  /** The next statement; its regular expressions are counted at once. */
  begin(statement: unknown): void {
    this.#left = MAX_STEPS;
    if (!this.#mayHaveRegexes) return;
    for (const source of regexSources(statement)) {
      const { size, stepsPerCharacter } = regexEffort(source);
      this.spend(size * STEPS_PER_CHARACTER + stepsPerCharacter * STEPS_PER_REPETITION);
    }
  }
}

function* regexSources(node: unknown): Generator<string, void, undefined> {
  const nodes: unknown[] = [node];
  while (nodes.length > 0) {
    const next = nodes.pop();
    if (typeof next !== 'object' || next === null) continue;
    if ('kind' in next && next.kind === 'regex' && 'source' in next) yield String(next.source);
    nodes.push(...Object.values(next));
  }
}
