import type { Language } from '../macros.js';
import { type BuilderQuery, operatorsOf } from './builder-query.js';
import { influxqlOf, influxqlWidth } from './write-influxql.js';
import { sqlOf } from './write-sql.js';

/** Formats a query as text. The text is stable, so that `readBuilderQuery` reads it back. */
export const writeBuilderQuery = (query: BuilderQuery, language: Language): string =>
  language === 'sql' ? sqlOf(query) : influxqlOf(query);

/** Returns the same query in the other language; `undefined` if that language cannot express it. */
export function translated(query: BuilderQuery, to: Language): string | undefined {
  const canWrite =
    query.conditions.every(
      ({ operator, literal }) =>
        operatorsOf(to).includes(operator) && (to === 'sql' || !/^-?[\d.]+[a-z]/i.test(literal)),
    ) &&
    (to === 'sql' || influxqlWidth(query.every) !== undefined);
  return canWrite ? writeBuilderQuery(query, to) : undefined;
}
