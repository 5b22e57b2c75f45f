import type { DuckDBConnection } from '@duckdb/node-api';
import { BOUNDED_TEXT_MACROS } from '../emit/bounded-text.js';
import { PLANNER_MACROS } from '../emit/duckdb-macros.js';
import { LIKE_MACROS } from '../emit/like-macros.js';
import {
  resultBudgetMacro,
  STRING_BUDGET_BYTES,
  STRING_BUDGET_MACROS,
} from '../emit/string-budget.js';
import { AGGREGATES } from './aggregate/aggregates.js';
import { SELECTORS } from './aggregate/selectors.js';
import { STATISTICS, STATISTICS_MACROS } from './aggregate/statistics.js';
import { WINDOWS } from './aggregate/windows.js';
import type { FunctionDefinition } from './function-definition.js';
import { LIST_MACROS } from './lists/list-macros.js';
import { LISTS } from './lists/lists.js';
import { CONDITIONALS } from './scalar/conditionals.js';
import { ENCODING_MACROS, ENCODINGS } from './scalar/encodings.js';
import { INTROSPECTION } from './scalar/introspection.js';
import { MATH, MATH_MACROS } from './scalar/math.js';
import { REGEXP_MACROS, REGULAR_EXPRESSIONS } from './scalar/regular-expressions.js';
import { STRING_MACROS, STRINGS } from './scalar/strings.js';
import { STRUCTS } from './scalar/structs.js';
import { TIME_BIN_MACROS, TIME_BINS } from './time/time-bins.js';
import { TIME_CONVERSION_MACROS, TIME_CONVERSIONS } from './time/time-conversion.js';
import { TIME_PART_MACROS, TIME_PARTS } from './time/time-parts.js';
import { TIME_ZONES } from './time/time-zones.js';
import { INSTANT_MACROS, ZONE_MACROS } from './time/zone-text.js';

/** All SQL functions except gap-filling and cache functions. */
export const ALL_FUNCTIONS: readonly FunctionDefinition[] = [
  ...AGGREGATES,
  ...STATISTICS,
  ...SELECTORS,
  ...TIME_BINS,
  ...TIME_PARTS,
  ...TIME_ZONES,
  ...TIME_CONVERSIONS,
  ...MATH,
  ...STRINGS,
  ...ENCODINGS,
  ...REGULAR_EXPRESSIONS,
  ...CONDITIONALS,
  ...LISTS,
  ...STRUCTS,
  ...WINDOWS,
  ...INTROSPECTION,
];

/** Macros that `ALL_FUNCTIONS` uses, to be run in this order when a DuckDB instance starts. */
export const DUCKDB_MACROS: readonly string[] = [
  ...STRING_BUDGET_MACROS,
  ...BOUNDED_TEXT_MACROS,
  ...LIKE_MACROS,
  ...STATISTICS_MACROS,
  ...ZONE_MACROS,
  ...INSTANT_MACROS,
  ...TIME_PART_MACROS,
  ...TIME_BIN_MACROS,
  ...TIME_CONVERSION_MACROS,
  ...MATH_MACROS,
  ...STRING_MACROS,
  ...ENCODING_MACROS,
  ...REGEXP_MACROS,
  ...LIST_MACROS,
  ...PLANNER_MACROS,
];

/** Registers macros and scalar functions in the in-memory catalog of the connection's instance. */
export async function registerDuckDbFunctions(
  connection: DuckDBConnection,
  resultBudgetBytes = STRING_BUDGET_BYTES,
): Promise<void> {
  const { scalarFunctions } = await import('./scalar/scalar-functions.js'); // Loads DuckDB's library.
  for (const definition of scalarFunctions()) connection.registerScalarFunction(definition);
  // In one transaction, because separate statements double the startup time.
  const macros = [resultBudgetMacro(resultBudgetBytes), ...DUCKDB_MACROS];
  await connection.run(`BEGIN;\n${macros.join(';\n')};\nCOMMIT;`);
}
