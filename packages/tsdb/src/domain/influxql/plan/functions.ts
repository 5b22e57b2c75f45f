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
  'first',
  'last',
  'max',
  'min',
  'percentile',
  'sample',
  'top',
  'bottom',
]);

/** Take rows, or the buckets of another call, and give rows. */
export const TRANSFORMATIONS: ReadonlySet<string> = new Set([
  'derivative',
  'non_negative_derivative',
  'difference',
  'non_negative_difference',
  'moving_average',
  'cumulative_sum',
  'elapsed',
  'exponential_moving_average',
  'double_exponential_moving_average',
  'triple_exponential_moving_average',
  'relative_strength_index',
  'triple_exponential_derivative',
  'kaufmans_efficiency_ratio',
  'kaufmans_adaptive_moving_average',
  'chande_momentum_oscillator',
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

/** Of the transformations, those for which the bucket before the range is read as well. */
export const LOOK_BACK: ReadonlySet<string> = new Set(
  [...TRANSFORMATIONS].filter((name) => name !== 'cumulative_sum'),
);

const ANY_TYPE: ReadonlySet<string> = new Set([
  'count',
  'first',
  'last',
  'distinct',
  'elapsed',
  'mode',
  'sample',
]);

/** Whether a function of a wildcard takes fields of this type. Source: query-languages, "Expansion". */
export function takesType(name: string, type: DataType): boolean {
  switch (type) {
    case 'float':
    case 'integer':
      return true;
    case 'unsigned':
      return !FORECASTS.has(name);
    case 'string':
      return ANY_TYPE.has(name);
    case 'boolean':
      return ANY_TYPE.has(name) || name === 'min' || name === 'max';
    default:
      return false;
  }
}

/** Type of what a function of a field gives; `unknown` where it takes no such field. */
export function resultType(name: string, argument: DataType): DataType {
  if (argument === 'unknown' || argument === 'tag') return 'unknown';
  if (!takesType(name, argument)) return 'unknown';
  switch (name) {
    case 'count':
    case 'elapsed':
      return 'integer';
    case 'mean':
    case 'median':
    case 'integral':
    case 'stddev':
    case 'derivative':
    case 'non_negative_derivative':
    case 'moving_average':
    case 'holt_winters':
    case 'holt_winters_with_fit':
      return 'float';
    case 'difference':
    case 'non_negative_difference':
      return argument === 'unsigned' ? 'integer' : argument;
    default:
      return TECHNICAL.has(name) ? 'float' : argument;
  }
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
