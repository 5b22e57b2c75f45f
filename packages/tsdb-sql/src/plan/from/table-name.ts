import { tsdbError } from '@plinth/tsdb-model/errors.js';

/** Returns catalog, schema and name; the defaults are `public` and `iox`. */
export function resolveTable(names: readonly string[]): readonly [string, string, string] {
  if (names.length > 3) {
    throw tsdbError(
      'plan_error',
      `Error during planning: Unsupported compound identifier '${names.join('.')}'`,
    );
  }
  const [name = '', schema = 'iox', catalog = 'public'] = [...names].reverse();
  return [catalog, schema, name];
}
