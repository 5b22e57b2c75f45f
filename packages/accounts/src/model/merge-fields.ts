import { isObject } from '@plinth/kernel';

/** Objects that are replaced completely, because half of a date or acceptance is meaningless. */
const REPLACED_WHOLE: ReadonlySet<string> = new Set([
  'date_of_birth',
  'registration_date',
  'terms_of_service.account',
  'terms_of_service.crypto_money_manager',
  'terms_of_service.money_manager',
  'additional_terms_of_service.account',
  'attestations.directorship_declaration',
  'attestations.ownership_declaration',
  'attestations.representative_declaration',
]);

/** Triggers or derived values; never stored. */
const NOT_STORED: ReadonlySet<string> = new Set([
  'automatic_indirect_tax.validate_location',
  'responsibilities.requirements_collector',
]);

type Tree = {
  readonly requested?: unknown;
  readonly value?: unknown;
  readonly [name: string]: unknown;
};

/**
 * Merges `sent` into a stored tree. Objects are merged, and lists are replaced. `null` and `''`
 * unset a member, empty objects are omitted, and `requested: false` removes a capability. Source:
 * accounts, section 10, rules 1 to 7.
 */
export function mergeFields<T extends object>(stored: T | undefined, sent: unknown): T {
  const merged = mergeObject((stored ?? {}) as Tree, isObject(sent) ? sent : {}, '');
  return (merged ?? {}) as T; // `sent` is a partial T
}

function mergeObject(stored: Tree, sent: Tree, name: string): Tree | undefined {
  const merged: Record<string, unknown> = { ...stored };
  for (const key of Object.keys(sent)) {
    const at = `${name}.${key}`;
    if (NOT_STORED.has(at)) continue;
    const before = Object.hasOwn(stored, key) ? stored[key] : undefined;
    const after = mergeValue(before, sent[key], { key, at });
    if (after === undefined) delete merged[key];
    else setMember(merged, key, after);
  }
  return Object.keys(merged).length === 0 ? undefined : merged;
}

/** Clients choose metadata keys, and a key could be `__proto__`. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else
    Object.defineProperty(object, name, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
}

function mergeValue(
  stored: unknown,
  sent: unknown,
  { key, at }: { readonly key: string; readonly at: string },
): unknown {
  if (sent === undefined) return stored;
  if (sent === null || sent === '') return undefined;
  if (Array.isArray(sent)) return sent.map(withoutUnset).filter((item) => !isRemoved(item));
  if (!isObject(sent)) return sent;
  if (Object.hasOwn(sent, 'requested')) return sent['requested'] === true ? sent : undefined;
  if (REPLACED_WHOLE.has(key) || REPLACED_WHOLE.has(at)) return pruned(sent);
  return mergeObject(isObject(stored) ? stored : {}, sent, key);
}

/** An entry of `custom_fields` with an empty value removes the field with that name. */
const isRemoved = (item: unknown): boolean =>
  isObject(item) && Object.hasOwn(item, 'name') && item['value'] === '';

function withoutUnset(item: unknown): unknown {
  if (!isObject(item)) return item;
  return Object.fromEntries(
    Object.entries(item).filter(
      ([name, value]) => value !== null && (value !== '' || name === 'value'),
    ),
  );
}

function pruned(sent: Tree): Tree | undefined {
  const remaining = Object.entries(sent).filter(([, value]) => value !== null && value !== '');
  return remaining.length === 0 ? undefined : Object.fromEntries(remaining);
}

/**
 * Whether two trees are equal, regardless of member order. Members with an undefined value are
 * ignored.
 */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return false;
  }
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => isSame(item, other[index]));
  }
  for (const [name, value] of Object.entries(one)) {
    const counterpart = Object.hasOwn(other, name) ? Reflect.get(other, name) : undefined;
    if (!isSame(value, counterpart)) return false;
  }
  return Object.entries(other).every(
    ([name, value]) => value === undefined || Object.hasOwn(one, name),
  );
}

/** Returns the JSON with the members of every object sorted by name. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  let members = '';
  for (const name of Object.keys(value).sort()) {
    const member = `${JSON.stringify(name)}:${canonicalJson(Reflect.get(value, name))}`;
    members += members === '' ? member : `,${member}`;
  }
  return `{${members}}`;
}
