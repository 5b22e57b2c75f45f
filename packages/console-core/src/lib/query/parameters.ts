import type { Language } from './macros.js';
import { QUOTED } from './quoted.js';

const TOKENS: Readonly<Record<Language, RegExp>> = {
  sql: new RegExp(String.raw`${QUOTED.sql}|\$([A-Za-z_]\w*)`, 'g'),
  influxql: new RegExp(String.raw`${QUOTED.influxql}|\$([A-Za-z_]\w*)`, 'g'),
};

/** Returns the parameter names (`$name`) of a statement in order, without duplicates. */
export function parameterNames(text: string, language: Language): readonly string[] {
  const names = [...text.matchAll(TOKENS[language])].flatMap(([, name]) => name ?? []);
  return [...new Set(names)];
}

export const PARAMETER_TYPES = ['text', 'number', 'boolean'] as const;
export type ParameterType = (typeof PARAMETER_TYPES)[number];

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Returns the value as JSON with all its digits; `undefined` when it does not have this type. */
export function parameterJson(typed: string, type: ParameterType): string | undefined {
  const text = typed.trim();
  if (type === 'text') return JSON.stringify(typed);
  if (type === 'number') return NUMBER.test(text) ? text : undefined;
  return text === 'true' || text === 'false' ? text : undefined;
}

/** Returns the URL keys of `$host`: `p.host` for the value, and `t.host` for the type unless it is a string. */
export const valueKey = (name: string): string => `p.${name}`;
export const typeKey = (name: string): string => `t.${name}`;

type Search = Readonly<Record<string, string>>;

export const typeOf = (search: Search, name: string): ParameterType =>
  PARAMETER_TYPES.find((each) => each === search[typeKey(name)]) ?? 'text';

/** Returns a JSON object of the valid parameters; `undefined` when there are none. */
export function parametersJson(
  search: Search,
  text: string,
  language: Language,
): string | undefined {
  const members = parameterNames(text, language).flatMap((name) => {
    const value = parameterJson(search[valueKey(name)] ?? '', typeOf(search, name));
    return value === undefined ? [] : [`${JSON.stringify(name)}:${value}`];
  });
  return members.length === 0 ? undefined : `{${members.join()}}`;
}
