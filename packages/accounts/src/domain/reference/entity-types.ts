import type { EntityType } from '../../model/account/account.js';
import { referenceTable } from './read-reference.js';

interface EntityTypeTable {
  readonly values: readonly string[];
  readonly not_in: Readonly<Record<string, readonly string[]>>;
  readonly only_in: Readonly<Record<string, readonly string[]>>;
}

interface StructureRow {
  readonly countries: readonly string[];
  readonly company: readonly string[];
  readonly non_profit: readonly string[];
  readonly government_entity: readonly string[];
  readonly individual: readonly string[];
}

interface StructureTable {
  readonly values: readonly string[];
  readonly matrix: readonly StructureRow[];
}

const entityTypeTable = referenceTable<EntityTypeTable>('entity-types');
const structureTable = referenceTable<StructureTable>('structures');

export function isEntityTypeIn(entityType: EntityType, country: string): boolean {
  const { not_in, only_in } = entityTypeTable();
  if ((not_in[entityType] ?? []).includes(country)) return false;
  return only_in[entityType]?.includes(country) ?? true;
}

export function structures(): readonly string[] {
  return structureTable().values;
}

/** Whether a legal structure exists for this entity type in this country. */
export function isStructureOf(
  structure: string,
  options: { readonly country: string; readonly entityType: EntityType },
): boolean {
  const { matrix } = structureTable();
  const row =
    matrix.find(({ countries }) => countries.includes(options.country)) ??
    matrix.find(({ countries }) => countries.includes('*'));
  return row?.[options.entityType].includes(structure) ?? false;
}
