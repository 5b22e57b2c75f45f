import {
  type HttpRequest,
  isJsonType,
  isObject,
  messageOf,
  queryOf,
  requestError,
} from '@plinth/kernel';
import type { HardDeletion } from '@plinth/tsdb-catalog/deletion/deleted-resources.js';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import { daysInMonth } from '@plinth/tsdb-model/time/calendar.js';
import {
  jsonError,
  jsonTextOf,
  parseJsonObject,
  parseJsonParameter,
} from '../query/json-request.js';
import { parseParameters, readBoolean, readParameter, serdeError } from '../query-string.js';
import { parseRetention } from './human-time.js';

/**
 * The parameters of a management request, from the query string, a JSON body, or both.
 * Source: tsdb-http, "Compatibility profile" and "Transport and common behavior".
 */
export class ManagementInput {
  readonly #parameters: ReturnType<typeof parseParameters>;
  readonly #bodyText: string;
  readonly #body: Readonly<Record<string, unknown>> | undefined;

  /**
   * Throws `content_type_unacceptable` if there is neither a query string nor a body with the JSON
   * content type.
   */
  static of(request: HttpRequest): ManagementInput {
    return ManagementInput.#of(request, false);
  }

  /**
   * Like `of`, for requests with parameters in the query string. Without one, the parameters count
   * as missing.
   */
  static ofQuery(request: HttpRequest): ManagementInput {
    return ManagementInput.#of(request, true);
  }

  static #of({ url, headers, body }: HttpRequest, mayBeEmpty: boolean): ManagementInput {
    const queryString = queryOf(url);
    const contentType = headers['content-type'];
    const isEmpty = mayBeEmpty && contentType === undefined;
    if (body.byteLength === 0 && (queryString !== '' || isEmpty)) {
      return new ManagementInput(parseParameters(queryString), undefined);
    }
    if (!isJsonType(contentType)) throw requestError('content_type_unacceptable');
    return new ManagementInput(parseParameters(queryString), jsonTextOf(body));
  }

  private constructor(
    parameters: ReturnType<typeof parseParameters>,
    bodyText: string | undefined,
  ) {
    this.#parameters = parameters;
    this.#bodyText = bodyText ?? '';
    this.#body = bodyText === undefined ? undefined : parseBody(bodyText);
  }

  requiredText(name: string, ...spellings: readonly string[]): string {
    const value = this.text(name, ...spellings);
    if (value !== undefined) return value;
    throw this.#failure(`missing field \`${name}\``);
  }

  /** `null` counts as absent. */
  text(...spellings: readonly string[]): string | undefined {
    const parameter = readParameter(this.#parameters, spellings);
    let found = parameter === undefined ? undefined : { name: '', value: parameter };
    for (const name of spellings) {
      const value = this.#field(name);
      if (value === undefined) continue;
      if (typeof value !== 'string') throw wrongType(name, value, 'a string');
      if (found !== undefined && found.value !== value) {
        throw tsdbError('conflicting_values', { first: found.name || name, second: name });
      }
      found ??= { name, value };
    }
    return found?.value;
  }

  /** Returns an integer of at least `minimum`; `undefined` if the parameter is absent. */
  integer(name: string, options: { readonly minimum: number; readonly tooSmall: string }) {
    const parameter = readParameter(this.#parameters, [name]);
    const value = this.#field(name) ?? parameter;
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && parameter !== undefined ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isInteger(number)) {
      throw wrongType(name, value, 'u64');
    }
    if (number < 0) throw jsonError(`invalid value: integer \`${number}\`, expected u64`);
    if (number > Number.MAX_SAFE_INTEGER) {
      throw jsonError(
        `invalid value: integer \`${number}\`, expected at most ${Number.MAX_SAFE_INTEGER}`,
      );
    }
    if (number < options.minimum) throw jsonError(options.tooSmall);
    return number;
  }

  /** Returns `undefined` if the parameter is absent or null. */
  flag(name: string): boolean | undefined {
    const value = this.#field(name);
    if (value !== undefined && typeof value !== 'boolean')
      throw wrongType(name, value, 'a boolean');
    return value ?? readBoolean(this.#parameters, name);
  }

  /**
   * Returns an object, given as JSON text in a query string; `undefined` if it is absent or null.
   */
  object(name: string): Readonly<Record<string, unknown>> | undefined {
    const parameter = readParameter(this.#parameters, [name]);
    const value = this.#field(name) ?? (parameter === undefined ? undefined : parseJson(parameter));
    if (value === undefined || value === null) return undefined;
    if (!isObject(value)) throw wrongType(name, value, 'a map');
    return value;
  }

  /** Like `object`, but numbers keep their text (`numberTextOf`). */
  exactObject(name: string): Readonly<Record<string, unknown>> | undefined {
    if (this.object(name) === undefined) return undefined;
    if (this.#field(name) === undefined) {
      return parseJsonParameter(readParameter(this.#parameters, [name]) ?? '');
    }
    return parseJsonObject(this.#bodyText)[name] as Readonly<Record<string, unknown>>; // `object` rejects other types
  }

  /** Returns `undefined` if the parameter is absent or null. */
  texts(name: string): readonly string[] | undefined {
    const value = this.#field(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw wrongType(name, value, 'a sequence');
    return value.map((item: unknown) => {
      if (typeof item !== 'string') throw wrongType(name, item, 'a string');
      return item;
    });
  }

  requiredTexts(name: string): readonly string[] {
    const value = this.texts(name);
    if (value !== undefined) return value;
    throw this.#failure(`missing field \`${name}\``);
  }

  /** Returns a list of objects, which is empty if it is absent or null. */
  objects(name: string): readonly Readonly<Record<string, unknown>>[] {
    const value = this.#field(name);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw wrongType(name, value, 'a sequence');
    return value.map((item: unknown) => {
      if (!isObject(item)) throw wrongType(name, item, 'a map');
      return item;
    });
  }

  /**
   * Returns the nanoseconds of a retention period such as `30d`; `undefined` if it is absent or
   * null.
   */
  retention(name: string): bigint | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const time = parseRetention(text);
    if ('ns' in time) return time.ns;
    throw this.#failure(time.fault);
  }

  /** Returns whether the parameter is present, even as null. */
  has(name: string): boolean {
    const isInBody = this.#body !== undefined && Object.hasOwn(this.#body, name);
    return isInBody || readParameter(this.#parameters, [name]) !== undefined;
  }

  /** Returns `undefined` if the parameter is absent or null. */
  choice<Value extends string>(name: string, values: readonly Value[]): Value | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = values.find((each) => each === text);
    if (value !== undefined) return value;
    throw this.#failure(
      `invalid value for field \`${name}\`: "${text}", expected ${values.join(' or ')}`,
    );
  }

  hardDeletion(): HardDeletion {
    const text = this.text('hard_delete_at');
    switch (text) {
      case undefined:
        return { kind: 'absent' };
      case 'never':
      case 'default':
      case 'now':
        return { kind: text };
      default:
        return { kind: 'at', atMs: parseTimestamp(text) };
    }
  }

  #field(name: string): unknown {
    if (this.#body === undefined || !Object.hasOwn(this.#body, name)) return undefined;
    return this.#body[name] ?? undefined;
  }

  #failure(text: string): TsdbError<'parameter_invalid'> {
    return this.#body === undefined ? serdeError(text) : jsonError(text);
  }
}

/**
 * ISO 8601 in extended or basic form: a day, minutes, or seconds with a fraction. The default
 * offset is UTC.
 */
const ISO_8601 =
  /^(\d{4})(-?)(\d\d)\2(\d\d)(?:[Tt ](\d\d)(:?)(\d\d)(?:\6(\d\d)(?:[.,](\d+))?)?\s?([Zz]|[+-]\d\d(?::?\d\d)?)?)?$/;

/** Returns milliseconds. Throws `parameter_invalid`. */
function parseTimestamp(text: string): number {
  const found = ISO_8601.exec(text);
  if (found === null) {
    const cause = text === '' ? 'premature end of input' : 'input contains invalid characters';
    throw tsdbError('parameter_invalid', `Cannot parse the timestamp: ${cause}`);
  }
  const [, year, , month, day, hour = '00', , minute = '00', second = '00', fraction = '0'] = found;
  const offset = found[10]?.toUpperCase() ?? 'Z';
  const zone =
    offset === 'Z' ? offset : offset.replace(/^(...):?(\d\d)?$/, (_, h, m = '00') => `${h}:${m}`);
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction}${zone}`);
  // `Date` moves a nonexistent day into the next month and accepts the hour 24.
  const isDay = Number(day) <= daysInMonth(Number(year), Number(month));
  if (Number.isFinite(ms) && isDay && Number(hour) < 24) return ms;
  throw tsdbError('parameter_invalid', 'Cannot parse the timestamp: input is out of range');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw jsonError(messageOf(error));
  }
}

function parseBody(text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text);
  if (!isObject(value)) throw jsonError('invalid type, expected a map');
  return value;
}

function wrongType(name: string, value: unknown, expected: string): TsdbError<'parameter_invalid'> {
  return jsonError(`invalid type for field \`${name}\`: ${kindOf(value)}, expected ${expected}`);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'sequence';
  switch (typeof value) {
    case 'number':
      return Number.isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``;
    case 'string':
      return `string ${JSON.stringify(value)}`;
    case 'boolean':
      return `boolean \`${value}\``;
    default:
      return 'map';
  }
}
