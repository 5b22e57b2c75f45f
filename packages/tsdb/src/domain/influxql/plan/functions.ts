import { AGGREGATES, type Signature } from '../functions/aggregates.js';
import type { DataType } from './data-type.js';

/** Functions of one row: they may stand anywhere, also in conditions. */
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

/** Pick a point, and so may stand beside other columns of it. */
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
const TO_SIGNED: readonly string[] = ['difference', 'non_negative_difference'];

/** Take rows, or the buckets of another call, and give rows. */
export const TRANSFORMATIONS: ReadonlySet<string> = new Set([
  ...[...TO_FLOATS, ...TO_SIGNED, 'cumulative_sum', 'elapsed'],
  ...TECHNICAL,
]);

/** Of the transformations, those for which the bucket before the range is read as well. */
export const LOOK_BACK: ReadonlySet<string> = new Set(
  [...TRANSFORMATIONS].filter((name) => name !== 'cumulative_sum'),
);

/** Functions that do not stand here take numbers and give what they took. */
const SIGNATURES: ReadonlyMap<string, Signature> = new Map<string, Signature>([
  ...AGGREGATES,
  ['distinct', { takes: 'any' }],
  ['sample', { takes: 'any' }],
  ['elapsed', { takes: 'any', gives: 'integer' }],
  ...TO_SIGNED.map((name) => [name, { gives: 'signed' }] as const),
  ...['integral', ...TO_FLOATS, ...TECHNICAL, ...FORECASTS].map(
    (name) => [name, { gives: 'float' }] as const,
  ),
]);

/** Whether a function of a wildcard takes fields of this type. Source: query-languages, "Expansion". */
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

/** Type of what a function of a field gives; `unknown` where it takes no such field. */
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
