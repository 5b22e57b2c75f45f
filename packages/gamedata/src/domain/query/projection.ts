import { isObject } from '@plinth/kernel';
import { gameDataError } from '../../errors.js';

/** Selected members of a record: a tree of names, `true` for a complete member. */
export interface Projection {
  readonly [name: string]: Projection | true;
}

interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly additionalProperties?: unknown;
  readonly patternProperties?: unknown;
}

/**
 * Parses dot paths against the schema of the public record. Throws `invalid_parameter` for unknown
 * paths.
 */
export function readProjection(
  paths: readonly string[],
  schema: object,
  idField: string,
): Projection {
  const tree: Record<string, Projection | true> = Object.create(null);
  tree[idField] = true;
  for (const path of paths) {
    const names = path.split('.');
    if (!isKnown(schema as SchemaNode, names)) {
      const message = `fields: unknown member ${path}`;
      throw gameDataError('unknown_field', { param: 'fields', message });
    }
    let node = tree;
    for (const [depth, name] of names.entries()) {
      if (node[name] === true) break;
      if (depth === names.length - 1) {
        node[name] = true;
        break;
      }
      const inner: Record<string, Projection | true> = node[name] ?? Object.create(null);
      node[name] = inner;
      node = inner;
    }
  }
  return tree;
}

function isKnown(schema: SchemaNode, names: readonly string[]): boolean {
  const [name, ...rest] = names;
  if (name === undefined) return true;
  if (schema.anyOf !== undefined) return schema.anyOf.some((branch) => isKnown(branch, names));
  if (schema.items !== undefined) return isKnown(schema.items, names);
  const property = schema.properties;
  if (property !== undefined && Object.hasOwn(property, name)) {
    const inner = property[name];
    return inner !== undefined && isKnown(inner, rest);
  }
  // Open objects may have any member.
  return (
    name !== '' && (schema.patternProperties !== undefined || schema.additionalProperties === true)
  );
}

export function project(value: unknown, projection: Projection | true): unknown {
  if (projection === true) return value;
  if (Array.isArray(value)) return value.map((entry) => project(entry, projection));
  if (!isObject(value)) return value;
  const projected: Record<string, unknown> = {};
  // Keeps the order of the complete record.
  for (const [name, member] of Object.entries(value)) {
    const inner = projection[name];
    if (inner !== undefined) projected[name] = project(member, inner);
  }
  return projected;
}
