import { type RecordField, type Values, valueAt, withValue } from './record-fields.js';

/** Returns the values of the inputs by the dotted path of their fields. */
export const leavesOf = (fields: readonly RecordField[], values: Values): Values =>
  Object.fromEntries(
    fields.flatMap(({ path }) => {
      const value = valueAt(values, path) ?? undefined;
      return value === undefined ? [] : [[path.join('.'), value]];
    }),
  );

/** The reverse of `leavesOf`. */
export const fromLeaves = (fields: readonly RecordField[], leaves: Values): Values =>
  fields.reduce<Values>((values, { path }) => {
    const value = leaves[path.join('.')];
    return value === undefined ? values : withValue(values, path, value);
  }, {});

/**
 * Returns a merge patch (RFC 7396) for a change whose members are the new values: names that the new objects no longer
 * contain are set to null.
 */
export const toMergePatch = (stored: Values, body: Values): Values =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      if (!isObject(value) || !isObject(stored[name])) return [name, value];
      const missing = Object.keys(stored[name]).filter((each) => !Object.hasOwn(value, each));
      return [name, { ...value, ...Object.fromEntries(missing.map((each) => [each, null])) }];
    }),
  );

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the body of a request that changes `stored` to `edited`. It contains only changed values, and complete
 * objects where the server replaces them completely.
 */
export function changesOf(fields: readonly RecordField[], stored: Values, edited: Values): Values {
  return fields.reduce<Values>((body, field) => {
    const before = valueAt(stored, field.path);
    const after = valueAt(edited, field.path);
    if (isSame(before, after)) return body;
    if (field.unit !== undefined) {
      const { path, constants } = field.unit;
      const members = present(valueAt(edited, path));
      const isEmpty = Object.keys(members).length === 0;
      return withValue(body, path, isEmpty ? null : { ...constants, ...members });
    }
    if (field.kind === 'map') return withValue(body, field.path, mapChanges(before, after));
    if (field.isNullable) return withValue(body, field.path, after ?? null);
    // Removing the value of a capability stops the request; other such values cannot be removed.
    if (after === undefined && field.kind !== 'flag') return body;
    return withValue(body, field.path, after ?? false);
  }, {});
}

/** Removes null values and empty objects. */
function present(value: unknown): Values {
  return Object.fromEntries(
    Object.entries(Object(value)).flatMap(([name, each]) => {
      if (each === null || each === undefined) return [];
      if (typeof each !== 'object' || Array.isArray(each)) return [[name, each]];
      const inner = present(each);
      return Object.keys(inner).length === 0 ? [] : [[name, inner]];
    }),
  );
}

/** Returns the changes of a map. The server merges maps, so removed names are null. */
function mapChanges(before: unknown, after: unknown): Values {
  const old = Object(before) as Values;
  const next = Object(after) as Values;
  const gone = Object.keys(old).filter((name) => !Object.hasOwn(next, name));
  const changed = Object.entries(next).filter(([name, value]) => old[name] !== value);
  return Object.fromEntries([...gone.map((name) => [name, null]), ...changed]);
}

/** Compares two values. An absent value is equal to null and to an empty map. */
function isSame(a: unknown, b: unknown): boolean {
  const text = (value: unknown) => JSON.stringify(value ?? null);
  const isEmpty = (value: unknown) => text(value) === 'null' || text(value) === '{}';
  return text(a) === text(b) || (isEmpty(a) && isEmpty(b));
}
