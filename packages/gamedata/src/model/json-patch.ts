import { isObject } from '@plinth/kernel';
import { isSameJson, pointerOf } from './json.js';

export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * Returns the RFC 6902 operations from one value to another. Lists of different lengths are
 * replaced completely.
 */
export function diffJson(from: unknown, to: unknown, path = ''): readonly PatchOperation[] {
  if (isSameJson(from, to)) return [];
  if (isObject(from) && isObject(to)) {
    const removed = Object.keys(from)
      .filter((name) => !Object.hasOwn(to, name))
      .map((name): PatchOperation => ({ op: 'remove', path: path + pointerOf([name]) }));
    const others = Object.entries(to).flatMap(([name, value]): readonly PatchOperation[] => {
      const inner = path + pointerOf([name]);
      return Object.hasOwn(from, name)
        ? diffJson(from[name], value, inner)
        : [{ op: 'add', path: inner, value }];
    });
    return [...removed, ...others];
  }
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) {
    return to.flatMap((value, index) => diffJson(from[index], value, `${path}/${index}`));
  }
  return [{ op: 'replace', path, value: to }];
}

/**
 * Changes `target` in place. Returns false when an operation does not apply, in which case `target`
 * is partly changed.
 */
export function applyPatch(target: object, patch: readonly PatchOperation[]): boolean {
  return patch.every((operation) => applyOne(target, operation));
}

function applyOne(target: object, operation: PatchOperation): boolean {
  const parts = operation.path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = parts.pop();
  let parent: unknown = target;
  for (const part of parts) {
    if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, part)) return false;
    parent = Reflect.get(parent, part);
  }
  if (typeof parent !== 'object' || parent === null || last === undefined) return false;
  if (operation.op !== 'add' && !Object.hasOwn(parent, last)) return false;
  if (operation.op === 'remove') Reflect.deleteProperty(parent, last);
  else if (last === '__proto__') return false;
  else Reflect.set(parent, last, operation.value);
  return true;
}
