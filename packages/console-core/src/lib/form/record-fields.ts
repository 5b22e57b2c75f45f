/** The parts of JSON Schema that the forms use. */
interface Schema {
  /** Contains `null` in a list if the value is nullable. */
  readonly type?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly maxLength?: number;
  /** `#/components/schemas/<name>`. */
  readonly $ref?: string;
}

/** An input of a form, for one value of a record. */
export interface RecordField {
  /** Names of the members that lead to the value. */
  readonly path: readonly string[];
  readonly kind: FieldKind;
  readonly isNullable: boolean;
  /** Whether an empty input removes a value that cannot be null. */
  readonly isOptional?: boolean;
  readonly choices: readonly string[];
  /** The object that requests must always contain in full, if the value is part of one. */
  readonly unit?: FieldUnit;
}

type FieldKind =
  | 'text'
  | 'long text'
  | 'integer'
  | 'number'
  | 'flag'
  | 'choice'
  | 'list'
  /** Strings by name. */
  | 'map'
  | 'json';

export interface FieldUnit {
  readonly path: readonly string[];
  /** Members with only one possible value. */
  readonly constants: Values;
}

export type Values = Readonly<Record<string, unknown>>;

const LONG_TEXT = 1000;
/** Members that have no input, because they never change. */
const FIXED: ReadonlySet<string> = new Set(['id']);

/** The names of the schemas of records that editors send, by collection. */
export const SCHEMA_NAMES: Readonly<Record<string, string>> = {
  items: 'ItemDraft',
  ammunition: 'AmmunitionDraft',
  hideout: 'HideoutModuleDraft',
  quests: 'QuestDraft',
  traders: 'TraderDraft',
  maps: 'MapDraft',
  itemPresets: 'ItemPresetDraft',
  levels: 'LevelDraft',
  storyline: 'StorylineElementDraft',
};

/** Derives the inputs of a form from the schema of a record. Members of simple objects have their own inputs. */
export function recordFields(schema: unknown): readonly RecordField[] {
  const { properties = {} } = schema as Schema;
  return Object.entries(properties)
    .filter(([name]) => !FIXED.has(name))
    .flatMap(([name, each]) => fieldsOf([name], each));
}

function fieldsOf(path: readonly string[], schema: Schema): readonly RecordField[] {
  const isNullable = schema.anyOf?.some(({ type }) => type === 'null') ?? false;
  const options = schema.anyOf?.filter(({ type }) => type !== 'null');
  const only = options?.length === 1 ? options[0] : undefined;
  const shown = only ?? schema;
  const choices = (shown.anyOf ?? []).map((each) => each.const);
  const field = (kind: RecordField['kind'], more: Partial<RecordField> = {}) => [
    { path, kind, isNullable, choices: [], ...more },
  ];
  if (choices.length > 0 && choices.every((each) => typeof each === 'string'))
    return field('choice', { choices: choices.map(String) });
  switch (shown.type) {
    case 'string':
      return field(
        (shown.maxLength ?? 0) > LONG_TEXT && path.at(-1) === 'description' ? 'long text' : 'text',
      );
    case 'integer':
      return field('integer');
    case 'number':
      return field('number');
    case 'boolean':
      return field('flag');
    case 'array':
      return field(shown.items?.type === 'string' ? 'list' : 'json');
    default: {
      const parts = Object.entries(shown.properties ?? {}).map(([name, each]) =>
        fieldsOf([...path, name], each),
      );
      const isSimple =
        path.length === 1 && parts.length > 0 && parts.flat().every(({ kind }) => kind !== 'json');
      return isSimple && !isNullable && shown.properties !== undefined && !isOptional(shown)
        ? parts.flat()
        : field('json');
    }
  }
}

/** Returns whether all members may be absent: such objects contain one of several shapes. */
const isOptional = (schema: Schema): boolean =>
  Object.values(schema.properties ?? {}).some(({ properties }) => properties !== undefined);

/**
 * Derives the inputs of a form from the schema of a request, with an input for each value at any depth.
 * @param schemas the schemas that references name.
 * @param hidden dotted paths without inputs.
 */
export function requestFields(
  schema: unknown,
  schemas: Readonly<Record<string, unknown>>,
  hidden: ReadonlySet<string>,
): readonly RecordField[] {
  const inside = (
    path: readonly string[],
    node: Schema,
    unit: FieldUnit | undefined,
  ): readonly RecordField[] => {
    if (hidden.has(path.join('.'))) return [];
    const { shown, isNullable } = withoutNull(node, schemas);
    const { properties } = shown;
    if (properties === undefined) {
      const { kind, choices } = kindOf(shown, schemas);
      // The unit of an object contains its only possible value.
      if (kind === 'choice' && choices.length === 1) return [];
      return [{ path, kind, choices, isNullable, isOptional: true, ...(unit && { unit }) }];
    }
    const own = unit ?? (path.length > 0 && isUnit(shown) ? unitOf(path, properties) : undefined);
    return Object.entries(properties).flatMap(([name, each]) => inside([...path, name], each, own));
  };
  return inside([], schema as Schema, undefined);
}

function withoutNull(
  schema: Schema,
  schemas: Readonly<Record<string, unknown>>,
): { readonly shown: Schema; readonly isNullable: boolean } {
  const { $ref, type, anyOf } = schema;
  if ($ref !== undefined) {
    const found = schemas[$ref.split('/').at(-1) ?? ''] ?? {};
    return withoutNull(found as Schema, schemas);
  }
  const only = anyOf?.find((each) => each.type !== 'null');
  if (only !== undefined) return { ...withoutNull(only, schemas), isNullable: true };
  if (!Array.isArray(type)) return { shown: schema, isNullable: false };
  return { shown: { ...schema, type: type[0] }, isNullable: true };
}

function kindOf(
  schema: Schema,
  schemas: Readonly<Record<string, unknown>>,
): Pick<RecordField, 'kind' | 'choices'> {
  const choices = (schema.enum ?? []).filter((each) => typeof each === 'string');
  if (choices.length > 0) return { kind: 'choice', choices };
  const plain = { integer: 'integer', number: 'number', boolean: 'flag', string: 'text' } as const;
  const found = plain[String(schema.type) as keyof typeof plain];
  if (found !== undefined) return { kind: found, choices };
  if (schema.type === 'array') {
    const { shown } = withoutNull(schema.items ?? {}, schemas);
    return { kind: shown.type === 'string' ? 'list' : 'json', choices };
  }
  const { additionalProperties } = schema;
  if (typeof additionalProperties !== 'object') return { kind: 'json', choices };
  const { shown } = withoutNull(Object(additionalProperties), schemas);
  return { kind: shown.type === 'string' ? 'map' : 'json', choices };
}

/**
 * Returns whether the server replaces the object completely. This includes attestations, although they have no required
 * members.
 */
const isUnit = ({ required = [], properties = {} }: Schema): boolean =>
  required.length > 0 || ('date' in properties && 'ip' in properties);

const unitOf = (path: readonly string[], properties: NonNullable<Schema['properties']>) => ({
  path,
  constants: Object.fromEntries(
    Object.entries(properties).flatMap(([name, each]) =>
      each.enum?.length === 1 ? [[name, each.enum[0]]] : [],
    ),
  ),
});

export const valueAt = (record: Values, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (Object(value) as Values)[name], record);

/** Returns a copy of the record with another value. */
export function withValue(record: Values, path: readonly string[], value: unknown): Values {
  const [name = '', ...rest] = path;
  return {
    ...record,
    [name]: rest.length === 0 ? value : withValue(Object(record[name]) as Values, rest, value),
  };
}

/** Formats the value as the text of an input. `readText` reads exactly the same value from it. */
export function textOf(field: RecordField, value: unknown): string {
  if (value === null || value === undefined) return '';
  switch (field.kind) {
    case 'list':
    case 'map': {
      if (Object.keys(Object(value)).length === 0) return '';
      const text = plainText(value);
      const read = readText(field, asTyped(text))?.value;
      return JSON.stringify(read) === JSON.stringify(value) ? text : JSON.stringify(value, null, 2);
    }
    case 'json':
      return JSON.stringify(value, null, 2);
    default:
      return String(value);
  }
}

/** Values with the separators of this format are shown as JSON. */
const plainText = (value: unknown): string =>
  Array.isArray(value)
    ? value.join(', ')
    : Object.entries(Object(value))
        .map(([name, each]) => `${name} = ${each}`)
        .join('\n');

/** Returns the text that a browser returns from a textarea. */
export const asTyped = (text: string): string => text.replaceAll(/\r\n?/g, '\n');

/** Returns whether the text needs a textarea. An `input` removes line breaks. */
export const isMultiLine = (text: string): boolean => /[\r\n]/.test(text);

/**
 * Reads the text of an input. `undefined` if it is not a value of this kind.
 * @param before the value before the change. Its line ends are kept.
 */
export function readText(
  field: RecordField,
  text: string,
  before?: unknown,
): { readonly value: unknown } | undefined {
  if (text.trim() === '') {
    if (field.isNullable) return { value: null };
    if (field.isOptional === true) return { value: undefined };
  }
  switch (field.kind) {
    case 'integer':
    case 'number': {
      const value = Number(text);
      const isGood = text.trim() !== '' && Number.isFinite(value);
      return isGood && (field.kind === 'number' || Number.isInteger(value)) ? { value } : undefined;
    }
    case 'list':
      if (/^\s*\[/.test(text)) return ofShape(parseJson(text), Array.isArray);
      return {
        value: text
          .split(',')
          .map((each) => each.trim())
          .filter((each) => each !== ''),
      };
    case 'json':
      return parseJson(text);
    case 'map':
      return /^\s*\{/.test(text) ? ofShape(parseJson(text), isObject) : readLines(text);
    case 'flag':
      return { value: text === 'true' };
    default:
      return { value: hasOnlyCrLf(before) ? text.replaceAll('\n', '\r\n') : text };
  }
}

const hasOnlyCrLf = (value: unknown): boolean =>
  typeof value === 'string' && value.includes('\r\n') && !/\r(?!\n)|(?<!\r)\n/.test(value);

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const ofShape = (
  read: { readonly value: unknown } | undefined,
  isShape: (value: unknown) => boolean,
) => (read !== undefined && isShape(read.value) ? read : undefined);

/** Reads lines such as `name = value`. */
function readLines(text: string): { readonly value: Values } | undefined {
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => /^\s*([^=]*[^=\s])\s*=\s*(.*?)\s*$/.exec(line));
  if (lines.includes(null)) return undefined;
  return { value: Object.fromEntries(lines.map((found) => [found?.[1], found?.[2]])) };
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Reads the text of a complete record. */
export function parseRecord(text: string): Values | undefined {
  return ofShape(parseJson(text), isObject)?.value as Values | undefined;
}

/** Returns a label such as `Handbook: price`. @param from the number of names that a heading already contains. */
export const fieldLabel = ({ path }: Pick<RecordField, 'path'>, from = 0): string =>
  path
    .slice(from)
    .map((name) =>
      name.replaceAll('_', ' ').replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
    )
    .map((name, index) => (index === 0 ? name.charAt(0).toUpperCase() + name.slice(1) : name))
    .join(': ');

export const pointerOf = (path: readonly string[]): string =>
  path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

export const recordName = (record: Values): string =>
  String(
    record['name'] ??
      record['title'] ??
      (record['level'] === undefined ? record['id'] : `level ${record['level']}`),
  );
