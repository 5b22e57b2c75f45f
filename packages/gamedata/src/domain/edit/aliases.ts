import { isObject } from '@plinth/kernel';
import { isSameJson } from '../../model/json.js';
import type { AnySpec } from '../kinds/index.js';

/**
 * Two names of one value where both are sent and differ: whoever changed only one of them read the record, changed
 * that name and sent it back. The one that is as it was gives way; if both changed, both stay and are refused later.
 */
export function settleAliases(
  spec: AnySpec,
  body: Record<string, unknown>,
  current: Record<string, unknown>,
): Record<string, unknown> {
  const settled = structuredClone(body);
  for (const pair of spec.aliases ?? []) {
    const [first, second] = pair.map((path) => valueAt(settled, path));
    if (first === undefined || second === undefined || isSameJson(first, second)) continue;
    for (const [index, path] of pair.entries()) {
      const own = index === 0 ? first : second;
      if (isSameJson(own, valueAt(current, path))) {
        removeAt(settled, path);
        break;
      }
    }
  }
  return settled;
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
