import type { SettingDescription } from './section.js';
import { parseDurationMs, parseSizeBytes } from './units.js';

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

/** Text of a flag, a variable or the file as a value of the setting; what cannot be read stays text. */
export function parseSettingText(setting: SettingDescription, text: string): unknown {
  if (setting.isBoolean) return BOOLEAN_WORDS.get(text.trim().toLowerCase()) ?? text;
  if (setting.isList) return splitList(text);
  const type: unknown = Reflect.get(setting.schema, 'type');
  if (type === 'object') return parseJson(text);
  if (type !== 'integer' && type !== 'number') return text;
  if (/^[+-]?\d+(\.\d+)?$/.test(text.trim())) return Number(text);
  const { key } = setting;
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

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** What a value of this setting looks like, for messages and the settings page. */
export function settingTypeText({ schema, key, isList }: SettingDescription): string {
  const options = Reflect.get(isList ? (Reflect.get(schema, 'items') ?? {}) : schema, 'anyOf');
  if (Array.isArray(options)) {
    const choice = options
      .map((option) => `\`${String(Reflect.get(option, 'const'))}\``)
      .join(', ');
    return isList ? `list of ${choice}` : `one of ${choice}`;
  }
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

/** Bounds of a number; of those that begin at 0, that 0 alone says nothing. */
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
