import { type TProperties, type TSchema, Type } from 'typebox';

/** Keywords of `check-shape.ts`. */
export type Options = Record<string, unknown>;

/**
 * Words that request schemas are written in. Unless it says otherwise a field is optional and nullable: null and ''
 * unset it. Every object refuses members that it does not name.
 */
export const text = (options: Options = {}): TSchema => Type.String({ nullable: true, ...options });
export const fixedText = (options: Options = {}): TSchema => Type.String(options);
export const oneOf = (values: readonly string[], options: Options = {}): TSchema =>
  Type.String({ enum: [...values], nullable: true, ...options });
/** An enum that cannot be unset. */
export const fixedOneOf = (values: readonly string[], options: Options = {}): TSchema =>
  Type.String({ enum: [...values], ...options });
export const flag = (options: Options = {}): TSchema =>
  Type.Boolean({ nullable: true, ...options });
export const whole = (options: Options = {}): TSchema =>
  Type.Integer({ nullable: true, ...options });
export const list = (items: TSchema, options: Options = {}): TSchema =>
  Type.Array(items, { nullable: true, ...options });

/** `required` members must be there; all others may be left out. */
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

/** Keys that the client chooses. */
export const record = (value: TSchema, options: Options = {}): TSchema =>
  Type.Unsafe({ type: 'object', additionalProperties: value, nullable: true, ...options });
