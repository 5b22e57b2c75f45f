import type { DuckDBConnection } from '@duckdb/node-api';
import { BOUNDED_TEXT_MACROS } from '../emit/bounded-text.js';
import { PLANNER_MACROS } from '../emit/engine-macros.js';
import { LIKE_MACROS } from '../emit/like-macros.js';
import { answerRoomMacro, TEXT_ROOM_BYTES, TEXT_ROOM_MACROS } from '../emit/text-room.js';
import { AGGREGATES } from './aggregates.js';
import { CONDITIONALS } from './conditionals.js';
import { ENCODING_MACROS, ENCODINGS } from './encodings.js';
import type { FunctionDefinition } from './function-definition.js';
import { INTROSPECTION } from './introspection.js';
import { LIST_MACROS } from './list-macros.js';
import { LISTS } from './lists.js';
import { MATH, MATH_MACROS } from './math.js';
import { REGEXP_MACROS, REGULAR_EXPRESSIONS } from './regular-expressions.js';
import { SELECTORS } from './selectors.js';
import { STATISTICS, STATISTICS_MACROS } from './statistics.js';
import { STRING_MACROS, STRINGS } from './strings.js';
import { STRUCTS } from './structs.js';
import { TIME_BIN_MACROS, TIME_BINS } from './time-bins.js';
import { TIME_CONVERSION_MACROS, TIME_CONVERSIONS } from './time-conversion.js';
import { TIME_PART_MACROS, TIME_PARTS } from './time-parts.js';
import { TIME_ZONES } from './time-zones.js';
import { WINDOWS } from './windows.js';
import { INSTANT_MACROS, ZONE_MACROS } from './zone-text.js';

/** Every function of SQL but those of gap filling and of the caches. */
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

/** What the texts of `ALL_FUNCTIONS` rely on; to be run in this order when an engine instance starts. */
export const ENGINE_MACROS: readonly string[] = [
  ...TEXT_ROOM_MACROS,
  ...BOUNDED_TEXT_MACROS,
  ...LIKE_MACROS,
  ...STATISTICS_MACROS,
  ...ZONE_MACROS,
  ...INSTANT_MACROS,
  ...TIME_BIN_MACROS,
  ...TIME_PART_MACROS,
  ...TIME_CONVERSION_MACROS,
  ...MATH_MACROS,
  ...STRING_MACROS,
  ...ENCODING_MACROS,
  ...REGEXP_MACROS,
  ...LIST_MACROS,
  ...PLANNER_MACROS,
];

/** Puts macros and scalar functions into the (in-memory) catalog of the connection's instance. */
export async function registerEngineFunctions(
  connection: DuckDBConnection,
  answerRoomBytes = TEXT_ROOM_BYTES,
): Promise<void> {
  const { scalarFunctions } = await import('./scalar-functions.js'); // Reads the engine's library.
  for (const definition of scalarFunctions()) connection.registerScalarFunction(definition);
  // One text in one transaction: one by one they take twice the time, at every start.
  const macros = [answerRoomMacro(answerRoomBytes), ...ENGINE_MACROS];
  await connection.run(`BEGIN;\n${macros.join(';\n')};\nCOMMIT;`);
}
