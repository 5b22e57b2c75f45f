import { queryOf } from '@plinth/kernel';
import { invalidFields } from '../domain/refusals.js';
import type { InvalidField } from '../model/shape/check-shape.js';

/** A parameter with its name, the content of its brackets, and its value. */
interface Parameter {
  readonly name: string;
  readonly bracket: string | undefined;
  readonly value: string;
}

const NAME = /^([A-Za-z_]+)(?:\[([^\]]*)\])?$/;
const MAX_PARAMETER_COUNT = 1000;

/** Page sizes of a list. Source: accounts, section 7.1. */
export const PAGE_LIMIT = { min: 1, max: 100, default: 20 } as const;

/**
 * Query parameters of one request. Reading a parameter marks it as known; `refuseUnknown` rejects all others and
 * reports all errors together. Lists are `name[0]=a&name[1]=b`, `name[]=a` or `name=a&name=b`. Source: accounts,
 * section 2.1.
 */
export class QueryString {
  readonly #parameters: readonly Parameter[];
  readonly #taken = new Set<string>();
  readonly #problems: InvalidField[] = [];

  /** @param target path and query as in the request line. */
  constructor(target: string) {
    const pairs = [...new URLSearchParams(queryOf(target))];
    // Ids and filters never contain NUL, and PostgreSQL cannot compare it.
    if (pairs.some(([, value]) => value.includes('\u0000'))) {
      this.#fail('', 'bad_format', 'A parameter contains a NUL character.');
    }
    this.#parameters = pairs.slice(0, MAX_PARAMETER_COUNT).map(([key, value]) => {
      const [, name = key, bracket] = NAME.exec(key) ?? [];
      return { name, bracket, value };
    });
  }

  text(name: string): string | undefined {
    const [first, second] = this.#take(name, (bracket) => bracket === undefined);
    if (second !== undefined) this.#fail(name, 'wrong_type', `${name} appears more than once.`);
    return first?.value;
  }

  list(name: string, allowed?: readonly string[]): string[] {
    const values = this.#take(
      name,
      (bracket) => bracket === undefined || /^\d*$/.test(bracket),
    ).map(({ value }) => value);
    for (const value of values) {
      if (allowed === undefined || allowed.includes(value)) continue;
      this.#fail(name, 'invalid_enum', `${name} cannot be ${JSON.stringify(value.slice(0, 200))}.`);
    }
    return values;
  }

  flag(name: string): boolean | undefined {
    const value = this.text(name);
    if (value === undefined || value === 'true' || value === 'false') {
      return value === undefined ? undefined : value === 'true';
    }
    this.#fail(name, 'wrong_type', `${name} must be true or false.`);
    return undefined;
  }

  whole(name: string, range: { min: number; max: number; default: number }): number {
    const value = this.text(name);
    if (value === undefined) return range.default;
    if (!/^-?\d{1,15}$/.test(value)) {
      this.#fail(name, 'wrong_type', `${name} must be an integer.`);
      return range.default;
    }
    const number = Number(value);
    if (number >= range.min && number <= range.max) return number;
    this.#fail(name, 'out_of_range', `${name} must be a number from ${range.min} to ${range.max}.`);
    return range.default;
  }

  /** Returns the values in brackets: `created[gte]=...`. */
  members(name: string, allowed: readonly string[]): ReadonlyMap<string, string> {
    const found = this.#take(name, (bracket) => bracket !== undefined && allowed.includes(bracket));
    return new Map(found.map(({ bracket = '', value }) => [bracket, value]));
  }

  problem(field: string, code: InvalidField['code'], message: string): void {
    this.#fail(field, code, message);
  }

  /** Call after reading all parameters. Throws `invalid_fields` for unknown and invalid parameters. */
  refuseUnknown(): void {
    for (const { name, bracket } of this.#parameters) {
      const full = bracket === undefined || bracket === '' ? name : `${name}.${bracket}`;
      if (this.#taken.has(`${name}[${bracket ?? ''}`)) continue;
      this.#fail(full.slice(0, 200), 'unknown_field', `Unknown parameter ${full.slice(0, 200)}.`);
    }
    if (this.#problems.length > 0) throw invalidFields(this.#problems.slice(0, 100));
  }

  #take(name: string, fits: (bracket: string | undefined) => boolean): Parameter[] {
    const found = this.#parameters.filter((each) => each.name === name && fits(each.bracket));
    for (const { bracket } of found) this.#taken.add(`${name}[${bracket ?? ''}`);
    return found;
  }

  #fail(field: string, code: InvalidField['code'], message: string): void {
    this.#problems.push({ field, code, message });
  }
}
