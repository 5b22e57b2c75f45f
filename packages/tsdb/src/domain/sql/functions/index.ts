import type { DuckDBConnection } from '@duckdb/node-api';
import { AGGREGATES } from './aggregates.js';
import type { FunctionDefinition } from './function-definition.js';
import { MATH, MATH_MACROS } from './math.js';
import { SELECTORS } from './selectors.js';
import { STATISTICS, STATISTICS_MACROS } from './statistics.js';
import { STRING_MACROS, STRINGS } from './strings.js';
import { TIME_BIN_MACROS, TIME_BINS } from './time-bins.js';

/** Every function of SQL but those of gap filling and of the caches. */
export const ALL_FUNCTIONS: readonly FunctionDefinition[] = [
  ...AGGREGATES,
  ...STATISTICS,
  ...SELECTORS,
  ...TIME_BINS,
  ...MATH,
  ...STRINGS,
];

/** What the texts of `ALL_FUNCTIONS` rely on; to be run in this order when an engine instance starts. */
export const ENGINE_MACROS: readonly string[] = [
  ...STATISTICS_MACROS,
  ...TIME_BIN_MACROS,
  ...MATH_MACROS,
  ...STRING_MACROS,
];

/** Puts macros and scalar functions into the (in-memory) catalog of the connection's instance. */
export async function registerEngineFunctions(connection: DuckDBConnection): Promise<void> {
  for (const macro of ENGINE_MACROS) await connection.run(macro);
}
