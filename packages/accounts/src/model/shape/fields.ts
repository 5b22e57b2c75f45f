import { type TProperties, type TSchema, Type } from 'typebox';

/** Keywords of `check-shape.ts`. */
export type Options = Record<string, unknown>;

/**
 * Builders for request schemas. By default a field is optional and nullable: null and '' unset it.
 * Every object rejects unknown members.
 */
export const text = (options: Options = {}): TSchema => Type.String({ nullable: true, ...options });
export const fixedText = (options: Options = {}): TSchema => Type.String(options);
export const oneOf = (values: readonly string[], options: Options = {}): TSchema =>
  Type.String({ enum: [...values], nullable: true, ...options });
/** Returns the schema of an enum that cannot be unset. */
export const fixedOneOf = (values: readonly string[], options: Options = {}): TSchema =>
  Type.String({ enum: [...values], ...options });
export const flag = (options: Options = {}): TSchema =>
  Type.Boolean({ nullable: true, ...options });
export const whole = (options: Options = {}): TSchema =>
  Type.Integer({ nullable: true, ...options });
export const list = (items: TSchema, options: Options = {}): TSchema =>
  Type.Array(items, { nullable: true, ...options });

/**
 * Returns the schema of an object. Members in `required` are mandatory; all others are optional.
 */
export function group(
  properties: Readonly<Record<string, TSchema>>,
  options: { readonly required?: readonly string[] } & Record<string, unknown> = {},
): TSchema {
  const { required = [], ...others } = options;
  const members: TProperties = {};
  for (const [name, schema] of Object.entries(properties)) {
    members[name] = required.includes(name) ? schema : Type.Optional(schema);
  }
  return Type.Object(members, { additionalProperties: false, nullable: true, ...others });
}

/** Returns the schema of an object whose keys the client chooses. */
export const record = (value: TSchema, options: Options = {}): TSchema =>
  Type.Unsafe({ type: 'object', additionalProperties: value, nullable: true, ...options });
