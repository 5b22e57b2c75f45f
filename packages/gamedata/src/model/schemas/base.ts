import { type TObject, type TProperties, type TSchema, type TSchemaOptions, Type } from 'typebox';

/** Closed object: unknown members are rejected. */
export const Closed = <P extends TProperties>(properties: P): TObject<P> =>
  Type.Object(properties, { additionalProperties: false });

export const Nullable = <T extends TSchema>(schema: T) =>
  Type.Union([schema, Type.Null()], { default: null });

export const List = <T extends TSchema>(items: T) =>
  Type.Array(items, { default: [], maxItems: 10_000 });

export const Text = (maxLength = 20_000) => Type.String({ maxLength });

export const Count = (minimum = 0) => Type.Integer({ minimum, maximum: 2_147_483_647 });

export const Ratio = () => Type.Number({ minimum: 0, maximum: 1 });

export const ID_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$';
export const Id = () => Type.String({ pattern: ID_PATTERN });

export const Slug = () => Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 80 });

export const Flag = () => Type.Boolean({ default: false });

export const oneOf = <const T extends string>(names: readonly T[], options: TSchemaOptions = {}) =>
  Type.Unsafe<T>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      options,
    ),
  );

/**
 * Relative or https, so that editors cannot plant links with other schemes or hosts into fan sites.
 * Browsers treat a backslash as a slash and ignore control characters.
 */
export const Link = () =>
  Nullable(
    Type.String({
      maxLength: 2048,
      pattern:
        '^(https://[^\\s"<>\\\\\\u0000-\\u001f\\u007f-\\u009f]+|(?!//)[A-Za-z0-9/._~%#?=&-][^\\s:"<>\\\\\\u0000-\\u001f\\u007f-\\u009f]*)$',
    }),
  );

/**
 * Strings by language and field; fields of list members have names like
 * `objectives.<id>.description`.
 */
export const Locales = () =>
  Type.Record(
    Type.String({ pattern: '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$' }),
    Type.Record(Type.String(), Text()),
    {
      default: {},
    },
  );

/** Arbitrary additional data, served unchanged. */
const Extra = () => Type.Record(Type.String(), Type.Unknown(), { default: {} });

/** First members of every record. */
export const COMMON = {
  id: Id(),
  slug: Slug(),
};

/**
 * Last members of every stored record. Members after `extra` are not served: translations and the
 * imported raw form.
 */
export const TAIL = {
  extra: Extra(),
  updatedAt: Type.String({ format: 'date-time' }),
  locales: Locales(),
  source: Type.Optional(Type.Unknown()),
};

export const Bonus = () =>
  Closed({ type: Text(64), value: Type.Union([Type.Number(), Text(200)]) });

export const OBJECTIVE_TYPES = [
  'find',
  'collect',
  'build',
  'place',
  'key',
  'kill',
  'locate',
  'mark',
  'pickup',
  'reputation',
  'skill',
  'warning',
  'extract',
  'hideout',
  'level',
  'other',
] as const;

export const Objective = () =>
  Closed({
    id: Id(),
    type: oneOf(OBJECTIVE_TYPES),
    description: Nullable(Text()),
    target: Type.String({ default: '', maxLength: 500 }),
    count: Type.Integer({ minimum: 1, maximum: 2_147_483_647, default: 1 }),
    optional: Flag(),
    foundInRaid: Flag(),
    itemIds: List(Id()),
    mapIds: List(Id()),
    traderId: Nullable(Id()),
    moduleId: Nullable(Id()),
    level: Nullable(Type.Number()),
    skill: Nullable(Text(100)),
    keys: List(Type.Array(Id())),
    toolId: Nullable(Id()),
    hint: Nullable(Text(2000)),
    with: List(
      Closed({
        type: Text(64),
        name: Nullable(Text(200)),
        value: Nullable(Type.Union([Type.Number(), Text(200)])),
        itemIds: List(Id()),
      }),
    ),
    position: Nullable(
      Closed({
        x: Type.Number({ minimum: 0, maximum: 100 }),
        y: Type.Number({ minimum: 0, maximum: 100 }),
        floor: Nullable(Text(100)),
      }),
    ),
  });
