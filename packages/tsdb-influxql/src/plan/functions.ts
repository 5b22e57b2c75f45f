import { AGGREGATES, type Signature } from '../functions/aggregates.js';
import type { DataType } from './data-type.js';

/**
 * Functions over one row; allowed anywhere, including conditions. Maps each name to its argument
 * count.
 */
export const SCALARS: ReadonlyMap<string, number> = new Map([
  ...[
    'abs',
    'acos',
    'asin',
    'atan',
    'ceil',
    'cos',
    'exp',
    'floor',
    'ln',
    'log2',
    'log10',
    'round',
    'sin',
    'sqrt',
    'tan',
  ].map((name): [string, number] => [name, 1]),
  ['atan2', 2],
  ['log', 2],
  ['pow', 2],
  ['date_part', 2],
]);

/** Functions that select a point and can therefore be combined with its other columns. */
export const SELECTORS: ReadonlySet<string> = new Set([
  ...[...AGGREGATES].flatMap(([name, { pick }]) => (pick === undefined ? [] : [name])),
  ...['sample', 'top', 'bottom'],
]);

export const TECHNICAL: ReadonlySet<string> = new Set([
  'exponential_moving_average',
  'double_exponential_moving_average',
  'triple_exponential_moving_average',
  'relative_strength_index',
  'triple_exponential_derivative',
  'kaufmans_efficiency_ratio',
  'kaufmans_adaptive_moving_average',
  'chande_momentum_oscillator',
]);

export const FORECASTS: ReadonlySet<string> = new Set(['holt_winters', 'holt_winters_with_fit']);

const TO_FLOATS: readonly string[] = ['derivative', 'non_negative_derivative', 'moving_average'];

/** Functions that convert rows, or the buckets of another call, to rows. */
export const TRANSFORMATIONS: ReadonlySet<string> = new Set([
  ...[...TO_FLOATS, 'difference', 'non_negative_difference', 'cumulative_sum', 'elapsed'],
  ...TECHNICAL,
]);

/** Transformations that also read the bucket before the time range. */
export const LOOK_BACK: ReadonlySet<string> = new Set(
  [...TRANSFORMATIONS].filter((name) => name !== 'cumulative_sum'),
);

/** Argument and result types. Unlisted functions accept numbers and return the argument type. */
const SIGNATURES: ReadonlyMap<string, Signature> = new Map<string, Signature>([
  ...AGGREGATES,
  ['distinct', { takes: 'any' }],
  ['sample', { takes: 'any' }],
  ['elapsed', { takes: 'any', gives: 'integer' }],
  ['difference', { gives: 'signed' }],
  ...['integral', ...TO_FLOATS, ...TECHNICAL, ...FORECASTS].map(
    (name) => [name, { gives: 'float' }] as const,
  ),
]);

/**
 * Returns whether a function expands a wildcard to fields of this type. Source: query-languages,
 * "Expansion".
 */
export function takesType(name: string, type: DataType): boolean {
  const takes = SIGNATURES.get(name)?.takes;
  switch (type) {
    case 'float':
    case 'integer':
      return true;
    case 'unsigned':
      return !FORECASTS.has(name);
    case 'string':
      return takes === 'any';
    case 'boolean':
      return takes !== undefined;
    default:
      return false;
  }
}

/**
 * Returns the result type of a field function, or `unknown` if it does not accept the field's type.
 */
export function resultType(name: string, argument: DataType): DataType {
  if (!takesType(name, argument)) return 'unknown';
  const { gives } = SIGNATURES.get(name) ?? {};
  if (gives !== 'signed') return gives ?? argument;
  return argument === 'unsigned' ? 'integer' : argument;
}

const INTEGER_KEEPING: ReadonlySet<string> = new Set(['abs', 'ceil', 'floor', 'round', 'pow']);

export function scalarType(name: string, args: readonly DataType[]): DataType {
  if (name === 'date_part') return 'integer';
  if (args.some((type) => type === 'unknown')) return 'unknown';
  if (args.some((type) => type === 'string' || type === 'tag' || type === 'boolean'))
    return 'unknown';
  if (!INTEGER_KEEPING.has(name)) return 'float';
  if (args.includes('float')) return 'float';
  return args.includes('unsigned') ? 'unsigned' : 'integer';
}
