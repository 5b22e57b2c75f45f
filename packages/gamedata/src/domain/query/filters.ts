import { gameDataError } from '../../errors.js';
import type { Kind } from '../../model/kinds.js';
import { normalText } from '../../model/normal-text.js';
import type { DataSet } from '../data/data-set.js';
import type { Row } from '../data/row.js';
import { KIND_SPECS } from '../kinds/index.js';
import type { Field } from '../kinds/kind-spec.js';
import type { NameLookup } from './named-records.js';
import type { Parameters } from './parameters.js';

export type Predicate = (row: Row) => boolean;
/** Resolves filter values to the ids of the records they name. */
export type FindNamed = (lookup: NameLookup) => Promise<ReadonlySet<string>>;
type Bind = (set: DataSet, findNamed: FindNamed) => Predicate | Promise<Predicate>;

export interface ReadFilters {
  readonly predicates: readonly Bind[];
  /** Names and values as sent, for the canonical URL. */
  readonly provided: readonly (readonly [string, string])[];
}

const MAX_FILTER_VALUES = 250;

/** Parses the filters of a kind; they are bound to a data set later. Throws `invalid_parameter`. */
export function readFilters(kind: Kind, parameters: Parameters): ReadFilters {
  const { filters, fields } = KIND_SPECS[kind];
  const predicates: Bind[] = [];
  const provided: [string, string][] = [];
  const bounds = new Map<string, { min?: number; max?: number }>();
  for (const [name, filter] of Object.entries(filters)) {
    const field = fields[filter.field];
    if (field === undefined) continue;
    if (filter.type !== 'any-of') {
      const bound = parameters.number(name);
      if (bound === undefined) continue;
      provided.push([name, String(bound)]);
      const range = bounds.get(filter.field) ?? {};
      if (filter.type === 'minimum') range.min = bound;
      else range.max = bound;
      bounds.set(filter.field, range);
      if (range.min !== undefined && range.max !== undefined && range.min > range.max) {
        const message = `${name}: the minimum ${range.min} exceeds the maximum ${range.max}`;
        throw gameDataError('invalid_parameter', { param: name, message });
      }
      predicates.push(boundPredicate(field, filter.type, bound));
      continue;
    }
    if (field.type === 'flag') {
      const expected = parameters.flag(name);
      if (expected === undefined) continue;
      provided.push([name, String(expected)]);
      predicates.push((set) => (row) => field.get(row, set) === expected);
      continue;
    }
    const values = parameters.list(name, { max: MAX_FILTER_VALUES });
    if (values === undefined) continue;
    provided.push([name, values.join(',')]);
    predicates.push(wordsPredicate(name, field, values));
  }
  return { predicates, provided };
}

function boundPredicate(field: Field, type: 'minimum' | 'maximum', bound: number) {
  return (set: DataSet): Predicate =>
    (row) => {
      const value = field.get(row, set);
      if (typeof value !== 'number') return false;
      return type === 'minimum' ? value >= bound : value <= bound;
    };
}

/** Matches a field that equals one of `values`, compared according to its type. */
export function wordsPredicate(name: string, field: Field, values: readonly string[]): Bind {
  if (field.type === 'words' && field.values !== undefined)
    refuseOthers(name, values, field.values);
  return async (set, findNamed) => {
    switch (field.type) {
      case 'relation': {
        const ids = await findNamed({ kind: field.kind, values });
        return (row) => field.get(row, set).some((id) => ids.has(id));
      }
      case 'caliber':
        return caliberPredicate(field, values, set);
      case 'words': {
        if (field.values !== undefined) {
          // Known words are stored in exactly this form.
          return (row) => field.get(row, set).some((entry) => values.includes(entry));
        }
        const expected = new Set(values.map(normalText));
        return (row) => field.get(row, set).some((entry) => expected.has(normalText(entry)));
      }
      default: {
        const expected = new Set(values.map(normalText));
        return (row) => {
          const value = field.get(row, set);
          return value !== null && expected.has(normalText(String(value)));
        };
      }
    }
  };
}

function refuseOthers(param: string, values: readonly string[], known: readonly string[]): void {
  const other = values.find((value) => !known.includes(value));
  if (other === undefined) return;
  throw gameDataError('invalid_parameter', {
    param,
    message: `${param} must be one of ${known.join(', ')}`,
  });
}

/**
 * An exact match with a caliber of the set has priority; otherwise prefixes match. Source:
 * gamedata, section 2.9.
 */
function caliberPredicate(
  field: Extract<Field, { type: 'caliber' }>,
  values: readonly string[],
  set: DataSet,
): Predicate {
  const all = new Set<string>();
  for (const row of set.tables.ammunition.rows) all.add(normalCaliber(field.get(row, set) ?? ''));
  const expected = new Set(
    values.map(normalCaliber).flatMap((value) => {
      if (all.has(value)) return [value];
      return value === '' ? [] : [...all].filter((caliber) => caliber.startsWith(value));
    }),
  );
  return (row) => expected.has(normalCaliber(field.get(row, set) ?? ''));
}

function normalCaliber(text: string): string {
  return text
    .toLowerCase()
    .replace(/^caliber/, '')
    .replace(/[^a-z0-9]/g, '');
}
