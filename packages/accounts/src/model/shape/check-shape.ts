import { hasLoneSurrogate, isObject } from '@plinth/kernel';
import type { TSchema } from 'typebox';
import { isLongerThan } from '../characters.js';
import { setMember } from '../merge-fields.js';
import { isCalendarDate, parseTimestamp, timestamp } from '../timestamps.js';
import { decimalText } from './decimal-text.js';

export type FieldProblem =
  | 'unknown_field'
  | 'wrong_type'
  | 'invalid_enum'
  | 'missing_field'
  | 'too_long'
  | 'out_of_range'
  | 'not_nullable'
  | 'bad_format';

export interface InvalidField {
  /** Dotted path in request notation. */
  readonly field: string;
  readonly code: FieldProblem;
  readonly message: string;
}

/**
 * Subset of JSON Schema for requests, with two extensions: `nullable` (null unsets) and `spelling`
 * (conversion of an accepted value). `maxProperties` excludes members that unset.
 */
interface Node {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
  /** Schemas by position, for a list whose positions differ. */
  readonly prefixItems?: readonly Node[];
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly keyPattern?: string;
  readonly propertyNames?: Node;
  readonly maxKeyLength?: number;
  readonly pattern?: string;
  readonly format?: 'date' | 'date-time';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly nullable?: boolean;
  readonly spelling?: 'upper' | 'lower' | 'decimal' | 'text';
}

/** JSON and UTF-8 allow this character, but PostgreSQL columns do not. */
const NUL = '\u0000';

const DEFAULT_MAX_LENGTH = 5000;
const DEFAULT_MAX_ITEMS = 1000;
/** Longer value lists are omitted from error messages. */
const MAX_NAMED_VALUES = 70;
/** Maximum number of reported failures; a hostile body may cause 100,000. */
const MAX_FAILURE_COUNT = 100;

export interface ShapeResult {
  /** A copy in stored form; valid only without failures. */
  readonly value: unknown;
  /** Failures in the order of the body's members. */
  readonly failures: readonly InvalidField[];
}

/**
 * Validates a parsed body against its schema. Recursion is limited by the schema, not by the body.
 */
export function checkShape(schema: TSchema, value: unknown): ShapeResult {
  const failures: InvalidField[] = [];
  const checked = new ShapeWalk(failures).walk(schema as Node, value, ''); // schemas use only these keywords
  return { value: checked, failures };
}

class ShapeWalk {
  readonly #failures: InvalidField[];

  constructor(failures: InvalidField[]) {
    this.#failures = failures;
  }

  walk(node: Node, value: unknown, path: string): unknown {
    if (value === null) {
      if (node.nullable === true) return null;
      return this.#fail(path, 'not_nullable', `${path} cannot be null.`);
    }
    switch (node.type) {
      case 'object':
        return this.#object(node, value, path);
      case 'array':
        return this.#array(node, value, path);
      case 'boolean':
        return typeof value === 'boolean' ? value : this.#wrongType(path, 'a boolean');
      case 'integer':
        return this.#integer(node, value, path);
      default:
        return this.#string(node, value, path);
    }
  }

  #object(node: Node, value: unknown, path: string): unknown {
    if (!isObject(value)) return this.#wrongType(path, 'an object');
    const names = Object.keys(value);
    const { properties = {}, required = [], additionalProperties } = node;
    if (hasTooMany(node, value, names)) {
      return this.#fail(path, 'too_long', `${path} has more than ${node.maxProperties} keys.`);
    }
    const taken: Record<string, unknown> = {};
    for (const name of names) {
      if (this.#isFull()) return undefined;
      const at = join(path, name);
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const schema =
        known ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
      if (schema === undefined) {
        this.#fail(shorten(at), 'unknown_field', `Unknown field ${shorten(at)}.`);
      } else if (known === undefined && !isKey(node, name)) {
        this.#fail(shorten(at), 'bad_format', invalidKey(node, at));
      } else setMember(taken, this.#key(node, name, at), this.walk(schema, value[name], at));
    }
    for (const name of required) {
      if (!Object.hasOwn(value, name)) {
        this.#fail(join(path, name), 'missing_field', `${join(path, name)} is required.`);
      }
    }
    return taken;
  }

  /** Converts a key to its stored form if the schema lists the allowed keys. */
  #key(node: Node, name: string, path: string): string {
    if (node.propertyNames === undefined) return name;
    const taken = this.#string(node.propertyNames, name, path);
    return typeof taken === 'string' ? taken : name;
  }

  #array(node: Node, value: unknown, path: string): unknown {
    if (!Array.isArray(value)) return this.#wrongType(path, 'an array');
    const maxItems = node.maxItems ?? DEFAULT_MAX_ITEMS;
    if (value.length > maxItems) {
      return this.#fail(path, 'too_long', `${path} has more than ${maxItems} entries.`);
    }
    const { minItems = 0 } = node;
    if (value.length < minItems) {
      return this.#fail(
        path,
        'out_of_range',
        `${path} has ${value.length} entries; at least ${minItems} are required.`,
      );
    }
    const { items = {}, prefixItems = [] } = node;
    return value.map((item: unknown, index) => {
      const at = join(path, String(index));
      // Null unsets a field. A list entry cannot be unset.
      if (item === null) return this.#fail(at, 'not_nullable', `${at} cannot be null.`);
      return this.#isFull() ? undefined : this.walk(prefixItems[index] ?? items, item, at);
    });
  }

  #integer(node: Node, value: unknown, path: string): unknown {
    if (typeof value !== 'number' || !Number.isInteger(value)) {
      return this.#wrongType(path, 'an integer');
    }
    const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = node;
    if (value >= minimum && value <= maximum) return value;
    return this.#fail(
      path,
      'out_of_range',
      `${path} must be an integer from ${minimum} to ${maximum}, not ${value}.`,
    );
  }

  #string(node: Node, value: unknown, path: string): unknown {
    if (node.spelling === 'decimal') return this.#decimal(value, path);
    if (node.spelling === 'text' && typeof value === 'number') return this.#numberText(value, path);
    if (typeof value !== 'string') return this.#wrongType(path, 'a string');
    if (hasLoneSurrogate(value)) {
      return this.#fail(path, 'bad_format', `${path} contains an unpaired surrogate.`);
    }
    if (value.includes(NUL)) {
      return this.#fail(path, 'bad_format', `${path} contains a NUL character.`);
    }
    // An empty string unsets a nullable field, as null does.
    if (value === '' && node.nullable === true) return value;
    const spelled = spell(value, node.spelling);
    if (node.enum !== undefined && !node.enum.includes(spelled)) {
      return this.#fail(
        path,
        'invalid_enum',
        `${path} cannot be ${quote(value)}${node.enum.length > MAX_NAMED_VALUES ? '' : `; use one of ${node.enum.join(', ')}`}.`,
      );
    }
    if (value.length < (node.minLength ?? 0)) {
      return this.#fail(path, 'bad_format', `${path} cannot be empty.`);
    }
    const maxLength = node.maxLength ?? DEFAULT_MAX_LENGTH;
    if (isLongerThan(value, maxLength)) {
      return this.#fail(path, 'too_long', `${path} is longer than ${maxLength} characters.`);
    }
    if (node.pattern !== undefined && !new RegExp(node.pattern, 'u').test(value)) {
      return this.#fail(
        path,
        'bad_format',
        `${path} does not have the expected format; use a value that matches ${node.pattern}.`,
      );
    }
    if (node.format === 'date' && !isDate(value)) {
      return this.#fail(
        path,
        'bad_format',
        `${path} is not a valid date; use a date such as 2026-12-31.`,
      );
    }
    return node.format === 'date-time' ? this.#instant(value, path) : spelled;
  }

  /** Stores timestamps in the format of responses. */
  #instant(value: string, path: string): unknown {
    const ms = parseTimestamp(value);
    if (ms !== undefined) return timestamp(ms);
    return this.#fail(path, 'bad_format', invalidTimestamp(path));
  }

  /** Rejects numbers that the JSON parser has rounded. */
  #numberText(value: number, path: string): unknown {
    if (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))) {
      return String(value);
    }
    const message = `${path} is a number that cannot be stored exactly; send it as a string.`;
    return this.#fail(path, 'out_of_range', message);
  }

  #decimal(value: unknown, path: string): unknown {
    if (typeof value !== 'string' && typeof value !== 'number') {
      return this.#wrongType(path, 'a decimal string');
    }
    if (value === '') return value;
    const text = typeof value === 'number' ? decimalText(value) : value;
    if (!/^-?\d{1,30}(\.\d{1,30})?$/.test(text)) {
      return this.#fail(
        path,
        'bad_format',
        `${path} is not a valid decimal number; use a value such as "12.5".`,
      );
    }
    const isInRange =
      Number(text) <= 100 && !text.startsWith('-') && /^\d+(\.\d{1,10})?$/.test(text);
    if (isInRange) return text;
    return this.#fail(
      path,
      'out_of_range',
      `${path} must be a number from 0 to 100 with at most ten fraction digits.`,
    );
  }

  /** Stops after the limit, because further failures do not help the client and cost CPU time. */
  #isFull(): boolean {
    return this.#failures.length >= MAX_FAILURE_COUNT;
  }

  #fail(field: string, code: FieldProblem, message: string): undefined {
    if (!this.#isFull()) this.#failures.push({ field, code, message });
    return undefined;
  }

  #wrongType(path: string, expected: string): undefined {
    return this.#fail(
      path,
      'wrong_type',
      `${path === '' ? 'The body' : path} must be ${expected}.`,
    );
  }
}

/**
 * A request that replaces all stored members needs at most twice the maximum. The limit also bounds
 * hostile bodies.
 */
function hasTooMany(node: Node, value: object, names: readonly string[]): boolean {
  const max = node.maxProperties ?? Number.POSITIVE_INFINITY;
  if (names.length <= max) return false;
  if (names.length > 2 * max) return true;
  const isNullable =
    typeof node.additionalProperties === 'object' && node.additionalProperties.nullable === true;
  const isSet = (member: unknown): boolean => !isNullable || (member !== null && member !== '');
  return names.filter((name) => isSet(Reflect.get(value, name))).length > max;
}

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  return day !== undefined && isCalendarDate(Number(year), Number(month), Number(day));
}

function isKey(node: Node, name: string): boolean {
  if (isLongerThan(name, node.maxKeyLength ?? DEFAULT_MAX_LENGTH)) return false;
  if (hasLoneSurrogate(name)) return false;
  return node.keyPattern === undefined || new RegExp(node.keyPattern, 'u').test(name);
}

function invalidKey(node: Node, path: string): string {
  if (hasLoneSurrogate(path)) return `${shorten(path)} contains an unpaired surrogate.`;
  const { keyPattern, maxKeyLength = DEFAULT_MAX_LENGTH } = node;
  const format = keyPattern === undefined ? '' : ` that match ${keyPattern}`;
  return `${shorten(path)} is not a valid key; use at most ${maxKeyLength} characters${format}.`;
}

export const invalidTimestamp = (path: string): string =>
  `${path} is not a valid timestamp; use a timestamp such as 2026-11-21T10:00:00.000Z.`;

function spell(value: string, spelling: Node['spelling']): string {
  if (spelling === 'upper') return value.toUpperCase();
  return spelling === 'lower' ? value.toLowerCase() : value;
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);
const quote = (text: string): string => JSON.stringify(shorten(text));
