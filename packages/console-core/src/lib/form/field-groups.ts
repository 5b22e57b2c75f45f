import { fieldLabel, type RecordField } from './record-fields.js';

export interface FieldGroup {
  readonly title: string;
  /** The common prefix of the paths. */
  readonly path: readonly string[];
  readonly fields: readonly RecordField[];
}

/** Parts of a group that are large enough to form their own group. */
const SPLIT: ReadonlySet<string> = new Set([
  'capabilities',
  'documents',
  'script_addresses',
  'script_names',
]);

/** Groups the fields under their headings, such as `Identity: business details`. Top-level fields come first. */
export function groupsOf(fields: readonly RecordField[]): readonly FieldGroup[] {
  const groups = new Map<string, { path: readonly string[]; fields: RecordField[] }>();
  for (const field of fields) {
    const depth = SPLIT.has(field.path[2] ?? '') ? 3 : 2;
    const path = field.path.slice(0, Math.min(depth, field.path.length - 1));
    const key = path.join('.');
    const group = groups.get(key) ?? { path, fields: [] };
    group.fields.push(field);
    groups.set(key, group);
  }
  return [...groups.values()]
    .map((group) => ({ ...group, title: fieldLabel(group) || 'General' }))
    .sort((a, b) => Number(b.path.length === 0) - Number(a.path.length === 0));
}

/** Returns whether a dotted path leads to the field, into it or to an object that contains it. */
export function isAtField(field: Pick<RecordField, 'path'>, path: string): boolean {
  const own = `${field.path.join('.')}.`;
  return own.startsWith(`${path}.`) || `${path}.`.startsWith(own);
}
