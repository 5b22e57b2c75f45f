import { isObject } from '@plinth/kernel';
import { isSameJson } from '../../model/json.js';
import type { AnySpec } from '../kinds/index.js';

/**
 * Resolves two aliases of one value that a client sends with different values.
 * A client that changed only one of them sends the other unchanged, so the unchanged one is
 * dropped. If both changed, both stay and validation rejects them.
 */
export function resolveAliases(
  spec: AnySpec,
  body: Record<string, unknown>,
  current: Record<string, unknown>,
): Record<string, unknown> {
  const resolved = structuredClone(body);
  for (const pair of spec.aliases ?? []) {
    const [first, second] = pair.map((path) => valueAt(resolved, path));
    if (first === undefined || second === undefined || isSameJson(first, second)) continue;
    for (const [index, path] of pair.entries()) {
      const own = index === 0 ? first : second;
      if (isSameJson(own, valueAt(current, path))) {
        removeAt(resolved, path);
        break;
      }
    }
  }
  return resolved;
}

function valueAt(record: unknown, path: string): unknown {
  let value = record;
  for (const part of path.split('.')) {
    if (!isObject(value)) return undefined;
    value = value[part];
  }
  return value;
}

function removeAt(record: Record<string, unknown>, path: string): void {
  const parts = path.split('.');
  const last = parts.pop() ?? '';
  const parent = parts.length === 0 ? record : valueAt(record, parts.join('.'));
  if (isObject(parent)) delete parent[last];
}
