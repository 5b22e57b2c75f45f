import { isObject } from '@plinth/kernel';

/** Whether two JSON values are equal, ignoring the order of members. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) && a.length === b.length && a.every((item, i) => isSameJson(item, b[i]))
    );
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSameJson(a[name], b[name]))
  );
}

/**
 * Returns the path of a `__proto__` member, which assignments would drop without an error. Recurses
 * as deeply as bodies may nest.
 */
export function findHiddenMember(value: unknown): readonly string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.hasOwn(value, '__proto__')) return [];
  for (const [name, inner] of Object.entries(value)) {
    const below = findHiddenMember(inner);
    if (below !== undefined) return [name, ...below];
  }
  return undefined;
}

export function pointerOf(path: readonly (string | number)[]): string {
  return path
    .map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}
