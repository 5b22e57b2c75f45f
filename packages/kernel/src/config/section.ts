import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';

/** Names of a setting in another system: flags without `--`, variables in full. */
export interface SettingAliases {
  readonly flags?: readonly string[];
  readonly env?: readonly string[];
  /**
   * The setting is accepted and validated but has no effect, for this reason. It lets users start with a configuration of
   * another system. Such a setting is optional and has no default.
   */
  readonly noEffectBecause?: string;
}

/**
 * The settings of one service. The suffix of a key is its unit: `_ms` and `_sec` also accept durations (`1s`, `10m`),
 * `_bytes` also accepts sizes (`10mb`, `20%` of the memory). Lists are comma-separated.
 */
export interface SettingsSection<P extends TProperties = TProperties> {
  /** `tsdb` in `tsdb.wal_flush_interval_ms`, `PLINTH_TSDB_...`, `--tsdb-...`. */
  readonly name: string;
  readonly schema: TObject<P>;
  readonly aliases: Readonly<Record<string, SettingAliases | undefined>>;
}

/** The settings that the service receives. */
export type SettingsOf<S> =
  S extends SettingsSection<infer P> ? Readonly<Static<TObject<P>>> : never;

/**
 * Declares a section. Flags, variables, the settings page and the validation at startup are derived from its schemas,
 * defaults and descriptions.
 * @param aliases additional flags and variables of single settings.
 */
export function defineSettings<P extends TProperties>(
  name: string,
  properties: P,
  aliases: { readonly [K in keyof P & string]?: SettingAliases } = {},
): SettingsSection<P> {
  return { name, schema: Type.Object(properties, { additionalProperties: false }), aliases };
}

const SECRET = /(^|_)(token|secret|password|key)s?$/;

/** Whether the value of a setting with this key must stay hidden. */
export const isSecretSetting = (key: string): boolean => SECRET.test(key);

/** One setting with its aliases, the canonical name first. */
export interface SettingDescription {
  readonly section: string;
  readonly key: string;
  /** In the configuration file: `tsdb.wal_flush_interval_ms`. */
  readonly path: string;
  readonly flags: readonly string[];
  readonly env: readonly string[];
  readonly schema: TSchema;
  readonly isBoolean: boolean;
  readonly isList: boolean;
  readonly default: unknown;
  readonly description: string;
  /** Sentences that only the settings page shows. */
  readonly details: string;
  readonly hasEffect: boolean;
}

/** Returns all settings in order of declaration. */
export function describeSettings(
  sections: readonly SettingsSection[],
): readonly SettingDescription[] {
  return sections.flatMap(({ name, schema, aliases }) =>
    Object.entries(schema.properties).map(([key, property]): SettingDescription => {
      const path = `${name}.${key}`;
      const type: unknown = Reflect.get(property, 'type');
      const noEffectBecause = aliases[key]?.noEffectBecause;
      return {
        section: name,
        key,
        path,
        flags: [path.replace(/[._]/g, '-'), ...(aliases[key]?.flags ?? [])],
        env: [`PLINTH_${path.replace('.', '_').toUpperCase()}`, ...(aliases[key]?.env ?? [])],
        schema: property,
        isBoolean: type === 'boolean',
        isList: type === 'array',
        default: Reflect.get(property, 'default'),
        description:
          noEffectBecause === undefined
            ? String(Reflect.get(property, 'description') ?? '')
            : `accepted for compatibility; has no effect because ${noEffectBecause}`,
        details: String(Reflect.get(property, 'details') ?? ''),
        hasEffect: noEffectBecause === undefined,
      };
    }),
  );
}

/** Returns the settings without effect that were given a value, by the name that was used. */
export function givenWithoutEffect(
  sections: readonly SettingsSection[],
  loaded: Readonly<Record<string, object>>,
): readonly { readonly setting: string; readonly why: string }[] {
  return describeSettings(sections)
    .filter(
      ({ hasEffect, section, key }) => !hasEffect && Object.hasOwn(loaded[section] ?? {}, key),
    )
    .map(({ flags, description }) => ({ setting: `--${flags[1] ?? flags[0]}`, why: description }));
}
