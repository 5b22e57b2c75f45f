import { type RecordField, type Values, valueAt, withValue } from './form/record-fields.js';

/** Members of requests that the forms do not show: tokens, parts of the response, and outcomes, which have buttons. */
export const HIDDEN_FIELDS: ReadonlySet<string> = new Set([
  'account_token',
  'configuration.storer',
  'include',
  'person_token',
  'v1',
  'verify',
]);

/** Returns the values of the inputs for an object. The format of objects differs from that of requests. */
export function storedValues(fields: readonly RecordField[], object: Values): Values {
  return fields.reduce<Values>((values, { path }) => {
    const value = storedValue(path, object);
    return value === undefined || value === null ? values : withValue(values, path, value);
  }, {});
}

function storedValue(path: readonly string[], object: Values): unknown {
  const last = path.at(-1);
  // Responses contain the status of a requested capability.
  if (last === 'requested') return valueAt(object, path.slice(0, -1)) !== undefined;
  const value = valueAt(object, path);
  if (last !== 'applied') return value;
  // Responses contain the time at which a configuration was applied.
  const isKnown = Object(valueAt(object, path.slice(0, -1))) as Values;
  return 'applied' in isKnown ? value !== null && value !== false : undefined;
}

/** `Ann Smith`, or the id. */
export const personName = (person: {
  readonly id: string;
  readonly given_name?: string;
  readonly surname?: string;
}): string => [person.given_name, person.surname].filter(Boolean).join(' ') || person.id;
