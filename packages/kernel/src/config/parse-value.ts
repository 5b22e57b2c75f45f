import type { SettingDescription } from './section.js';
import { parseDurationMs, parseSizeBytes } from './units.js';

const NUMBER = /^[+-]?\d+(\.\d+)?$/;

const BOOLEAN_WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
]);

/** Converts a flag, a variable or a file value to the setting's type. A value that cannot be parsed is returned unchanged. */
export function parseSetting(setting: SettingDescription, input: unknown): unknown {
  const { schema, key } = setting;
  if (setting.isList) return parseList(input, isNumeric(itemsOf(schema)));
  if (typeof input !== 'string') return input;
  const text = input;
  if (setting.isBoolean) return BOOLEAN_WORDS.get(text.trim().toLowerCase()) ?? text;
  if (Reflect.get(schema, 'type') === 'object') return parseJson(text);
  if (!isNumeric(schema)) return text;
  if (NUMBER.test(text.trim())) return Number(text);
  if (key.endsWith('_bytes')) return parseSizeBytes(text) ?? text;
  const durationMs = parseDurationMs(text);
  if (durationMs === undefined) return text;
  if (key.endsWith('_ms')) return durationMs;
  return key.endsWith('_sec') ? durationMs / 1000 : text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function parseList(input: unknown, isOfNumbers: boolean): unknown {
  const items: unknown =
    typeof input === 'string'
      ? input
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== '')
      : input;
  if (!isOfNumbers || !Array.isArray(items)) return items;
  return items.map((item) =>
    typeof item === 'string' && NUMBER.test(item) ? Number(item) : (item as unknown),
  );
}

const itemsOf = (schema: object): object => Object(Reflect.get(schema, 'items'));

const isNumeric = (schema: object): boolean =>
  ['integer', 'number'].includes(String(Reflect.get(schema, 'type')));

/** Returns the accepted values of a setting, for messages and the settings page. */
export function settingTypeText({ schema, key, isList }: SettingDescription): string {
  const one = isList ? itemsOf(schema) : schema;
  const options = Reflect.get(one, 'anyOf');
  if (Array.isArray(options)) {
    const choice = options
      .map((option) => `\`${String(Reflect.get(option, 'const'))}\``)
      .join(', ');
    return isList ? `list of ${choice}` : `one of ${choice}`;
  }
  if (isList && isNumeric(one)) return `list of numbers${boundsText(one)}`;
  const examples: unknown = Reflect.get(schema, 'examples');
  if (isList) return Array.isArray(examples) ? `list like \`${examples.join(',')}\`` : 'list';
  const values: unknown = Reflect.get(schema, 'enum');
  if (Array.isArray(values)) return `one of ${values.map((value) => `\`${value}\``).join(', ')}`;
  if (key.endsWith('_ms')) return `duration (bare number: milliseconds)${boundsText(schema)}`;
  if (key.endsWith('_sec')) return `duration (bare number: seconds)${boundsText(schema)}`;
  if (key.endsWith('_bytes')) return `size (bare number: bytes)${boundsText(schema)}`;
  if (Reflect.get(schema, 'type') === 'object') return `JSON like \`${String(examples)}\``;
  if (Array.isArray(examples)) return `text like \`${String(examples[0])}\``;
  return `${String(Reflect.get(schema, 'type'))}${boundsText(schema)}`;
}

/** Returns the bounds of a number. A minimum of 0 is not mentioned. */
function boundsText(schema: object): string {
  const minimum: unknown = Reflect.get(schema, 'minimum');
  const maximum: unknown = Reflect.get(schema, 'maximum');
  const not: unknown = Reflect.get(schema, 'not');
  const least: unknown = Reflect.get(Object(not), 'exclusiveMaximum');
  if (minimum === 0 && least !== undefined) return `, 0 or at least ${String(least)}`;
  if (minimum !== undefined && maximum !== undefined) {
    return `, ${String(minimum)} to ${String(maximum)}`;
  }
  if (minimum !== undefined && minimum !== 0) return `, at least ${String(minimum)}`;
  return maximum === undefined ? '' : `, at most ${String(maximum)}`;
}
