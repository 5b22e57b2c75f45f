import { Memo, messageOf } from '@plinth/kernel';
import { METRIC_LABEL, tagOfLabel } from '@plinth/tsdb-ingest/messages/label-rules.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { regexEffort } from '@plinth/tsdb-model/text/regex-effort.js';
import type { LabelMatcher } from './read-request.js';

/** Maximum number of values per matcher whose results are cached. */
const MAX_KNOWN_VALUES = 10_000;
/** Maximum number of steps for all regular expressions of a query, which take a few seconds. */
const MAX_REGEX_STEPS = 500_000_000;
/** Maximum number of characters in an expression, with repetitions expanded. */
const MAX_REGEX_SIZE = 100_000;
/**
 * Expressions that have the same meaning in InfluxQL as in RE2. InfluxQL drops backslashes before characters that need
 * no escape in RE2, which changes `[a\-z]`.
 */
const SAME_IN_INFLUXQL = /^(?:[^\\\n\r/]|\\[.+*?()[\]{}|^$\\dDwWsS])*$/;

interface Tester extends LabelMatcher {
  test(value: string): boolean;
}

/** The matchers of one query. */
export class LabelMatchers {
  readonly #ofMetric: readonly Tester[];
  readonly #ofLabels: readonly Tester[];

  private constructor(testers: readonly Tester[]) {
    this.#ofMetric = testers.filter(({ name }) => name === METRIC_LABEL);
    this.#ofLabels = testers.filter(({ name }) => name !== METRIC_LABEL);
  }

  /**
   * Compiles the matchers. Regular expressions take time linear in the value, because clients supply them. Throws
   * `parameter_invalid`.
   */
  static async of(matchers: readonly LabelMatcher[]): Promise<LabelMatchers> {
    const needsRegex = matchers.some(({ type }) => type === '=~' || type === '!~');
    // Loaded on demand, because building its tables takes time.
    const library = needsRegex ? await import('re2js') : undefined;
    const effort = { steps: 0 };
    return new LabelMatchers(
      matchers.map((matcher) => {
        const { type, value: expected } = matcher;
        if (library === undefined || type === '=' || type === '!=')
          return { ...matcher, test: (value) => (value === expected) === (type === '=') };
        const matches = anchored(library.RE2JS, expected, effort);
        return { ...matcher, test: (value) => matches(value) === (type === '=~') };
      }),
    );
  }

  /** Returns whether series of this table can match. */
  acceptsTable({ name, columns }: TableSchema): boolean {
    // A label counts as empty if no series has it.
    const isAbsent = (label: string): boolean => columns.get(tagOfLabel(label))?.kind !== 'tag';
    return (
      this.#ofMetric.every((matcher) => matcher.test(name)) &&
      this.#ofLabels.every((matcher) => !isAbsent(matcher.name) || matcher.test(''))
    );
  }

  /**
   * Returns conditions of an InfluxQL statement that hold for all matching series. Other series may meet them too, so
   * `acceptsLabels` decides.
   */
  conditions({ columns }: TableSchema): string[] {
    return this.#ofLabels.flatMap(({ type, name, value }) => {
      const tag = tagOfLabel(name);
      if (columns.get(tag)?.kind !== 'tag') return [];
      if (type === '=' || type === '!=')
        return [`${quoted(tag, '"')} ${type} ${quoted(value, "'")}`];
      if (!SAME_IN_INFLUXQL.test(value)) return [];
      return [`${quoted(tag, '"')} ${type} /^(?:${value})$/`];
    });
  }

  /** @param labelValue value of a label; empty if the series does not have it. */
  acceptsLabels(labelValue: (label: string) => string): boolean {
    return this.#ofLabels.every((matcher) => matcher.test(labelValue(matcher.name)));
  }
}

type Regex = typeof import('re2js').RE2JS;

/** Returns a test whether a value matches completely. Source: Prometheus, "Matchers": fully anchored. */
function anchored(
  regex: Regex,
  source: string,
  effort: { steps: number },
): (value: string) => boolean {
  const { size, stepsPerCharacter } = regexEffort(source);
  if (size > MAX_REGEX_SIZE) throw tooLong();
  let compiled: ReturnType<Regex['compile']>;
  try {
    compiled = regex.compile(source);
  } catch (error) {
    const shown = JSON.stringify(source);
    throw tsdbError(
      'parameter_invalid',
      `invalid regular expression ${shown}: ${messageOf(error)}`,
    );
  }
  const known = new Memo<string, { readonly isMatch: boolean }>({ maxCount: MAX_KNOWN_VALUES });
  return (value) =>
    known.of(value, () => {
      effort.steps += size + stepsPerCharacter * value.length;
      if (effort.steps > MAX_REGEX_STEPS) throw tooLong();
      return { isMatch: compiled.matcher(value).matches() };
    }).isMatch;
}

const tooLong = (): Error =>
  tsdbError(
    'parameter_invalid',
    'the regular expressions take too many steps to evaluate; use simpler expressions',
  );

/** Quotes a string or identifier of InfluxQL. */
export const quoted = (text: string, quote: '"' | "'"): string =>
  quote +
  text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`).replaceAll('\n', '\\n') +
  quote;
