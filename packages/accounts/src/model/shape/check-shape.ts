import type { TSchema } from 'typebox';
import { setMember } from '../merge-fields.js';
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
  /** Dotted path in the notation of requests. */
  readonly field: string;
  readonly code: FieldProblem;
  readonly message: string;
}

/**
 * The part of JSON Schema that requests are written in, and what it is extended by: `nullable` (null unsets) and
 * `spelling` (how a value is written once it is taken).
 */
interface Node {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
  readonly enum?: readonly string[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly keyPattern?: string;
  readonly maxKeyLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly nullable?: boolean;
  readonly spelling?: 'upper' | 'lower' | 'decimal' | 'text';
}

/** A surrogate without its other half: JSON can say it, UTF-8 cannot. */
const HALF_CHARACTER = /\p{Surrogate}/u;
/** JSON and UTF-8 can say it, columns of PostgreSQL cannot. */
const NUL = '\u0000';

const DEFAULT_MAX_LENGTH = 5000;
const DEFAULT_MAX_ITEMS = 1000;
/** Failures that are listed; a hostile body may have a hundred thousand. */
const MAX_FAILURE_COUNT = 100;

export interface ShapeResult {
  /** A copy in the spelling that is stored; only to be used when nothing failed. */
  readonly value: unknown;
  /** In order of appearance. */
  readonly failures: readonly InvalidField[];
}

/** Holds a parsed body to its schema. Goes only as deep as the schema does, whatever the body nests. */
export function checkShape(schema: TSchema, value: unknown): ShapeResult {
  const failures: InvalidField[] = [];
  const fail = (field: string, code: FieldProblem, message: string): undefined => {
    if (failures.length < MAX_FAILURE_COUNT) failures.push({ field, code, message });
    return undefined;
  };
  const checked = new ShapeWalk(fail).walk(schema as Node, value, ''); // the schemas are made of these keywords only
  return { value: checked, failures };
}

type Fail = (field: string, code: FieldProblem, message: string) => undefined;

class ShapeWalk {
  readonly #fail: Fail;

  constructor(fail: Fail) {
    this.#fail = fail;
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
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return this.#wrongType(path, 'an object');
    }
    const names = Object.keys(value);
    const { properties = {}, required = [], additionalProperties } = node;
    if (names.length > (node.maxProperties ?? Number.POSITIVE_INFINITY)) {
      return this.#fail(path, 'too_long', `${path} has more than ${node.maxProperties} keys.`);
    }
    const taken: Record<string, unknown> = {};
    for (const name of names) {
      const inner: unknown = Reflect.get(value, name);
      const at = join(path, name);
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const schema =
        known ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
      if (schema === undefined) {
        this.#fail(shorten(at), 'unknown_field', `Unknown field ${shorten(at)}.`);
      } else if (known === undefined && !isKey(node, name)) {
        this.#fail(shorten(at), 'bad_format', `${shorten(at)} is not a valid key.`);
      } else setMember(taken, name, this.walk(schema, inner, at));
    }
    for (const name of required) {
      if (!Object.hasOwn(value, name)) {
        this.#fail(join(path, name), 'missing_field', `${join(path, name)} is required.`);
      }
    }
    return taken;
  }

  #array(node: Node, value: unknown, path: string): unknown {
    if (!Array.isArray(value)) return this.#wrongType(path, 'an array');
    const maxItems = node.maxItems ?? DEFAULT_MAX_ITEMS;
    if (value.length > maxItems) {
      return this.#fail(path, 'too_long', `${path} has more than ${maxItems} entries.`);
    }
    const { items = {} } = node;
    return value.map((item: unknown, index) => {
      const at = join(path, String(index));
      // Null unsets a field; an entry of a list has nothing to unset.
      if (item === null) return this.#fail(at, 'not_nullable', `${at} cannot be null.`);
      return this.walk(items, item, at);
    });
  }

  #integer(node: Node, value: unknown, path: string): unknown {
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
      return this.#wrongType(path, 'a whole number');
    }
    const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = node;
    if (value >= minimum && value <= maximum) return value;
    return this.#fail(path, 'out_of_range', `${path} is out of range: ${value}.`);
  }

  #string(node: Node, value: unknown, path: string): unknown {
    if (node.spelling === 'decimal') return this.#decimal(value, path);
    if (node.spelling === 'text' && typeof value === 'number') return this.#numberText(value, path);
    if (typeof value !== 'string') return this.#wrongType(path, 'a string');
    if (HALF_CHARACTER.test(value)) {
      return this.#fail(path, 'bad_format', `${path} contains half of a character.`);
    }
    if (value.includes(NUL)) {
      return this.#fail(path, 'bad_format', `${path} contains the character NUL.`);
    }
    // An empty text unsets, as null does, where null may.
    if (value === '' && node.nullable === true) return value;
    const spelled = spell(value, node.spelling);
    if (node.enum !== undefined && !node.enum.includes(spelled)) {
      return this.#fail(
        path,
        'invalid_enum',
        `${path} cannot be ${quote(value)}${node.enum.length > 12 ? '' : `; it is one of ${node.enum.join(', ')}`}.`,
      );
    }
    const maxLength = node.maxLength ?? DEFAULT_MAX_LENGTH;
    if (value.length > maxLength && [...value].length > maxLength) {
      return this.#fail(path, 'too_long', `${path} is longer than ${maxLength} characters.`);
    }
    if (node.pattern !== undefined && !new RegExp(node.pattern, 'u').test(value)) {
      return this.#fail(path, 'bad_format', `${path} does not have the expected format.`);
    }
    return spelled;
  }

  /** What the parser has rounded already is not what was sent. */
  #numberText(value: number, path: string): unknown {
    if (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))) {
      return String(value);
    }
    const message = `${path} is a number that cannot be kept exactly; send it as a string.`;
    return this.#fail(path, 'out_of_range', message);
  }

  #decimal(value: unknown, path: string): unknown {
    if (typeof value !== 'string' && typeof value !== 'number') {
      return this.#wrongType(path, 'a decimal string');
    }
    if (value === '') return value;
    const text = typeof value === 'number' ? decimalText(value) : value;
    if (!/^-?\d{1,30}(\.\d{1,30})?$/.test(text)) {
      return this.#fail(path, 'bad_format', `${path} is not a decimal number.`);
    }
    const isInRange =
      Number(text) <= 100 && !text.startsWith('-') && /^\d+(\.\d{1,10})?$/.test(text);
    if (isInRange) return text;
    return this.#fail(
      path,
      'out_of_range',
      `${path} is a number from 0 to 100 with at most ten fraction digits.`,
    );
  }

  #wrongType(path: string, expected: string): undefined {
    return this.#fail(
      path,
      'wrong_type',
      `${path === '' ? 'The body' : path} must be ${expected}.`,
    );
  }
}

function isKey(node: Node, name: string): boolean {
  if (name.length > (node.maxKeyLength ?? 5000) || HALF_CHARACTER.test(name)) return false;
  return node.keyPattern === undefined || new RegExp(node.keyPattern, 'u').test(name);
}

function spell(value: string, spelling: Node['spelling']): string {
  if (spelling === 'upper') return value.toUpperCase();
  return spelling === 'lower' ? value.toLowerCase() : value;
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);
const quote = (text: string): string => JSON.stringify(shorten(text));
