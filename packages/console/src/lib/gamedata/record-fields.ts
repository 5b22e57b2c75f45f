/** A JSON Schema, as far as the forms use it. */
interface Schema {
  readonly type?: unknown;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly maxLength?: number;
}

/** An input of a form, for one value of a record. */
export interface RecordField {
  /** Names of the members that lead to the value. */
  readonly path: readonly string[];
  readonly kind: 'text' | 'long text' | 'integer' | 'number' | 'flag' | 'choice' | 'list' | 'json';
  readonly isNullable: boolean;
  readonly choices: readonly string[];
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

/** Objects whose members may all be absent contain one of several shapes. */
const isOptional = (schema: Schema): boolean =>
  Object.values(schema.properties ?? {}).some(({ properties }) => properties !== undefined);

export const valueAt = (record: Values, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (Object(value) as Values)[name], record);

/** A copy of the record with another value. */
export function withValue(record: Values, path: readonly string[], value: unknown): Values {
  const [name = '', ...rest] = path;
  return {
    ...record,
    [name]: rest.length === 0 ? value : withValue(Object(record[name]) as Values, rest, value),
  };
}

/** The text of an input. */
export function textOf(field: RecordField, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (field.kind === 'list') return Array.isArray(value) ? value.join(', ') : '';
  return field.kind === 'json' ? JSON.stringify(value, null, 2) : String(value);
}

/** Reads the text of an input. `undefined` if it is not a value of this kind. */
export function readText(
  field: RecordField,
  text: string,
): { readonly value: unknown } | undefined {
  if (text.trim() === '' && field.isNullable) return { value: null };
  switch (field.kind) {
    case 'integer':
    case 'number': {
      const value = Number(text);
      const isGood = text.trim() !== '' && Number.isFinite(value);
      return isGood && (field.kind === 'number' || Number.isInteger(value)) ? { value } : undefined;
    }
    case 'list':
      return {
        value: text
          .split(',')
          .map((each) => each.trim())
          .filter((each) => each !== ''),
      };
    case 'json':
      return parseJson(text);
    case 'flag':
      return { value: text === 'true' };
    default:
      return { value: text };
  }
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
  const value = parseJson(text)?.value;
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Values)
    : undefined;
}

/** A label such as `Handbook: price`. */
export const fieldLabel = ({ path }: RecordField): string =>
  path
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
