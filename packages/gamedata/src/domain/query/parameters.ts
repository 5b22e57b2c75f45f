import { gameDataError } from '../../errors.js';

/** Maximum length of one list value; record ids, slugs and names are shorter. */
const MAX_ENTRY_LENGTH = 256;
export const MAX_OFFSET = 2_147_483_647;
/** Maximum search hits per response. */
export const MAX_HITS = 1000;
/** Character that decoding inserts for invalid UTF-8. */
const REPLACEMENT = '\ufffd';

/** Query parameters of a request. Each may occur once; reading one marks it as known. */
export class Parameters {
  readonly #values = new Map<string, string>();
  readonly #repeated = new Set<string>();
  readonly #known = new Set<string>();

  /**
   * @param query the text after the `?`. Throws `invalid_parameter` if it is not UTF-8.
   */
  constructor(query: string) {
    for (const [name, value] of new URLSearchParams(query)) {
      if (name.includes(REPLACEMENT) || value.includes(REPLACEMENT)) {
        const param = name.replaceAll(REPLACEMENT, '?').slice(0, MAX_ENTRY_LENGTH);
        throw gameDataError('invalid_parameter', {
          param,
          message: 'the query string is not valid UTF-8',
        });
      }
      if (this.#values.has(name)) this.#repeated.add(name);
      else this.#values.set(name, value);
    }
  }

  /** Returns `undefined` when absent. Throws when the parameter is repeated. */
  text(name: string): string | undefined {
    this.#known.add(name);
    if (this.#repeated.has(name)) {
      throw gameDataError('invalid_parameter', {
        param: name,
        message: `${name} is repeated; send it once`,
      });
    }
    return this.#values.get(name);
  }

  /** Like `text`, but rejects an empty value. */
  nonEmptyText(name: string): string | undefined {
    const value = this.text(name);
    if (value === '')
      throw gameDataError('invalid_parameter', {
        param: name,
        message: `${name} is empty; send a value or omit it`,
      });
    return value;
  }

  integer(
    name: string,
    { min, max = MAX_OFFSET }: { readonly min: number; readonly max?: number },
  ): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) {
      const message = `${name} must be an integer from ${min} to ${max}`;
      throw gameDataError('invalid_parameter', { param: name, message });
    }
    return number;
  }

  /** Returns the requested page of a list; absent parameters are `undefined`. */
  page(maxLimit: number): {
    readonly limit: number | undefined;
    readonly offset: number | undefined;
  } {
    const limit = this.integer('limit', { min: 0, max: maxLimit });
    return { limit, offset: this.integer('offset', { min: 0 }) };
  }

  /** Accepts digits with an optional sign and fraction. */
  number(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (!/^-?\d{1,15}(\.\d{1,15})?$/.test(value)) {
      throw gameDataError('invalid_parameter', {
        param: name,
        message: `${name} must be a number`,
      });
    }
    return Number(value);
  }

  flag(name: string): boolean | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (value !== 'true' && value !== 'false') {
      throw gameDataError('invalid_parameter', {
        param: name,
        message: `${name} must be true or false`,
      });
    }
    return value === 'true';
  }

  list(name: string, bounds: { readonly max: number }): readonly string[] | undefined {
    const value = this.nonEmptyText(name);
    if (value === undefined) return undefined;
    const entries = value.split(',');
    const isWrong = (entry: string): boolean => entry === '' || entry.length > MAX_ENTRY_LENGTH;
    if (entries.length > bounds.max || entries.some(isWrong)) {
      const message = `${name} must be 1 to ${bounds.max} comma-separated values of at most ${MAX_ENTRY_LENGTH} characters`;
      throw gameDataError('invalid_parameter', { param: name, message });
    }
    return entries;
  }

  choice<const T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) {
      const message = `${name} must be ${choices.join(' or ')}`;
      throw gameDataError('invalid_parameter', { param: name, message });
    }
    return found;
  }

  /** Names of parameters that were never read. */
  get unknown(): readonly string[] {
    return [...this.#values.keys()].filter((name) => !this.#known.has(name));
  }
}
