/** Values of a point by field name, as in JSON. */
export type Fields = Readonly<Record<string, string | number | boolean>>;

/** Points by `table|tags|time`. */
export type Points = Map<string, Fields>;

/** The points of `before` after a request: fields are merged, the later write wins per field. */
export function merged(before: Points, request: Points): Points {
  const after: Points = new Map(before);
  for (const [key, fields] of request) after.set(key, { ...after.get(key), ...fields });
  return after;
}

/** Describes the first differences between `actual` and `expected`; empty when they are equal. */
export function differences(actual: Points, expected: Points): string[] {
  const found: string[] = [];
  for (const [key, fields] of expected) {
    const got = actual.get(key);
    if (got === undefined) found.push(`missing: ${key} ${JSON.stringify(fields)}`);
    else if (!isSame(got, fields))
      found.push(`wrong: ${key} ${JSON.stringify(got)}, expected ${JSON.stringify(fields)}`);
  }
  for (const [key, fields] of actual) {
    if (!expected.has(key)) found.push(`not written: ${key} ${JSON.stringify(fields)}`);
  }
  return found;
}

function isSame(a: Fields, b: Fields): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
