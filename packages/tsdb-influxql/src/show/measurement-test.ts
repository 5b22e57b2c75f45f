import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Expr } from '../ast/expressions.js';
import { compileRegex } from '../plan/condition/regex.js';

/** Passes each value of a tag in a measurement to `take`. */
type EachValue = (tag: string, take: (value: string) => void) => Steps<void>;

export interface MeasurementTest {
  readonly tags: ReadonlySet<string>;
  readonly isMet: (eachValue: EachValue) => Steps<boolean>;
}

/**
 * Compiles `SHOW MEASUREMENTS WHERE` as in 1.x. Each comparison applies to a measurement's set of
 * tag values, not to its series. `!=` and `!~` are true if the tag exists and no value matches. AND
 * and OR combine these results.
 * @returns `undefined` if the condition has comparisons other than tags with strings.
 */
export function measurementTest(condition: Expr): MeasurementTest | undefined {
  if (condition.kind === 'paren') return measurementTest(condition.inner);
  if (condition.kind !== 'binary') return undefined;
  const { op, left, right } = condition;
  if (op === 'AND' || op === 'OR') {
    const [a, b] = [measurementTest(left), measurementTest(right)];
    if (a === undefined || b === undefined) return undefined;
    const tags = new Set([...a.tags, ...b.tags]);
    return {
      tags,
      *isMet(eachValue) {
        const left = yield* a.isMet(eachValue);
        return left === (op === 'OR') ? left : yield* b.isMet(eachValue);
      },
    };
  }
  if (left.kind !== 'var_ref' || left.name.toLowerCase() === 'time') return undefined;
  const matches = matcherOf(op, right);
  if (matches === undefined) return undefined;
  const { name } = left;
  const isNegated = op === '!=' || op === '!~';
  return {
    tags: new Set([name]),
    *isMet(eachValue) {
      let isThere = false;
      let isMatched = false;
      yield* eachValue(name, (value) => {
        isThere = true;
        isMatched ||= matches(value);
      });
      return isThere && isMatched !== isNegated;
    },
  };
}

function matcherOf(op: string, right: Expr): ((value: string) => boolean) | undefined {
  if (right.kind === 'string' && (op === '=' || op === '!=')) {
    return (value) => value === right.value;
  }
  if (right.kind !== 'regex' || (op !== '=~' && op !== '!~')) return undefined;
  const regex = compileRegex(right.source);
  return (value) => regex.test(value);
}
