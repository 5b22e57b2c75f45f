import { isObject } from '@plinth/kernel';

interface SchemaNode {
  readonly type?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
}

/**
 * Returns a copy of `value` with all schema defaults filled in. Members have the schema's order.
 * Unknown members are kept and rejected by the subsequent check.
 */
export function fillDefaults(schema: object, value: unknown): unknown {
  return fill(schema as SchemaNode, value); // JSON Schema as produced by TypeBox
}

function fill(schema: SchemaNode, value: unknown): unknown {
  if (schema.anyOf !== undefined) {
    const branch = schema.anyOf.find(
      ({ properties, items }) => (properties && isObject(value)) || (items && Array.isArray(value)),
    );
    return branch === undefined ? value : fill(branch, value);
  }
  const { properties, items } = schema;
  if (items !== undefined && Array.isArray(value)) return value.map((item) => fill(items, item));
  if (properties === undefined || !isObject(value)) return value;
  const filled: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(properties)) {
    const present = Object.hasOwn(value, name) ? value[name] : undefined;
    const start = present === undefined ? structuredCloneOf(member.default) : present;
    if (start !== undefined) filled[name] = fill(member, start);
  }
  for (const [name, member] of Object.entries(value)) {
    if (Object.hasOwn(filled, name) || name === '__proto__' || member === undefined) continue;
    filled[name] = member;
  }
  return filled;
}

function structuredCloneOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...value];
  return isObject(value) ? { ...value } : value;
}
