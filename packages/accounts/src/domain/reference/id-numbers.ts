import { once, referenceTable } from './read-reference.js';

export type IdNumberHolder = 'business' | 'person';

interface IdNumberType {
  readonly pattern: string;
  /** Checksum validators as `CC.name`; at least one must accept the value. */
  readonly checksums?: readonly string[];
}

/** Entities that may not have these types; each row uses one kind of test. */
interface RefusedRow {
  readonly types: readonly string[];
  readonly entity_types?: readonly string[];
  readonly structures?: readonly string[];
  readonly only_entity_types?: readonly string[];
  readonly only_structures?: readonly string[];
  readonly entity_type_without_structure?: readonly string[];
}

interface IdNumberTable {
  readonly business: Readonly<Record<string, IdNumberType>>;
  readonly person: Readonly<Record<string, IdNumberType>>;
  readonly also_for_country: Readonly<Record<string, readonly string[]>>;
  readonly refused: readonly RefusedRow[];
  readonly accepted_in_test_mode: readonly string[];
}

const table = referenceTable<IdNumberTable>('id-numbers');
const testValues = once(() => new Set(table().accepted_in_test_mode));
const patterns = new Map<string, RegExp>();

export function idNumberTypes(holder: IdNumberHolder): readonly string[] {
  return Object.keys(table()[holder]);
}

/** Converts to upper case and removes blanks and separators. */
export function normaliseIdNumber(value: string): string {
  return value
    .trim()
    .toUpperCase()
    .replace(/[\s.\-/()]/g, '');
}

/** `value` must be normalized. Unknown types match nothing. */
export function matchesIdNumberPattern(
  holder: IdNumberHolder,
  type: string,
  value: string,
): boolean {
  const row = rowOf(holder, type);
  if (row === undefined) return false;
  const key = `${holder}:${type}`;
  let pattern = patterns.get(key);
  if (pattern === undefined) {
    pattern = new RegExp(`^(?:${row.pattern})$`);
    patterns.set(key, pattern); // bounded by the number of types
  }
  return pattern.test(value);
}

/** Returns the names (`CC.name`) of the validators for the check digits of this type. */
export function checksumsOf(holder: IdNumberHolder, type: string): readonly string[] {
  return rowOf(holder, type)?.checksums ?? [];
}

/** Whether a value simulates a verification outcome, regardless of the pattern of its type. */
export function isTestIdNumber(value: string): boolean {
  return testValues().has(value);
}

/** Whether numbers of this type are issued in `country`. */
export function isIdNumberTypeOf(type: string, country: string): boolean {
  return (
    countryOfType(type) === country || (table().also_for_country[country] ?? []).includes(type)
  );
}

export function countryOfType(type: string): string {
  return type.slice(0, 2).toUpperCase();
}

export function isIdNumberRefused(
  type: string,
  options: { readonly entityType: string | undefined; readonly structure: string | undefined },
): boolean {
  return table().refused.some((row) => row.types.includes(type) && refuses(row, options));
}

function refuses(
  row: RefusedRow,
  { entityType, structure }: { entityType: string | undefined; structure: string | undefined },
): boolean {
  if (entityType !== undefined) {
    if (row.entity_types?.includes(entityType)) return true;
    if (row.only_entity_types && !row.only_entity_types.includes(entityType)) return true;
    if (structure === undefined && row.entity_type_without_structure?.includes(entityType))
      return true;
  }
  if (structure === undefined) return false;
  if (row.structures?.includes(structure)) return true;
  return row.only_structures !== undefined && !row.only_structures.includes(structure);
}

function rowOf(holder: IdNumberHolder, type: string): IdNumberType | undefined {
  const types = table()[holder];
  return Object.hasOwn(types, type) ? types[type] : undefined;
}
