import { regexEffort } from '@plinth/tsdb-model/text/regex-effort.js';
import { planFailure } from '../plan-failure.js';

/**
 * Maximum number of planning steps per statement. They take a few tens of milliseconds and block
 * the event loop.
 */
const MAX_STEPS = 1_500_000;
/** Steps to compile a regular expression, per character and per repetition. */
const STEPS_PER_CHARACTER = 80;
const STEPS_PER_REPETITION = 400;
const TOO_MUCH =
  'the statement is too complex: its regular expressions have too many repetitions for the number of names';

/**
 * Counts planning steps so that no statement blocks the event loop. The count is the same on every
 * machine.
 */
export class PlanEffort {
  readonly #mayHaveRegexes: boolean;
  #left = MAX_STEPS;

  constructor(options: { readonly mayHaveRegexes: boolean }) {
    this.#mayHaveRegexes = options.mayHaveRegexes;
  }

  /** Counts steps. Throws `plan_error` above the limit. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw planFailure(TOO_MUCH);
  }

  /** Starts the count of the next statement with its regular expressions. */
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
