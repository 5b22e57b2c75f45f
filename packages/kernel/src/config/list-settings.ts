import { describeSettings, isSecretSetting, type SettingsSection } from './section.js';

/** One setting with its effective value. */
export interface ListedSetting {
  readonly name: string;
  /** Absent when the setting has no value or is a secret. */
  readonly value?: unknown;
  readonly default?: unknown;
  readonly is_secret: boolean;
  readonly is_default: boolean;
  readonly description: string;
  readonly flag: string;
  readonly variable: string;
}

/** Returns all settings with their values. For a secret, the result only shows whether it is set. */
export function listSettings(
  sections: Readonly<Record<string, SettingsSection>>,
  loaded: Readonly<Record<string, object>>,
): readonly ListedSetting[] {
  const byName = new Map(
    Object.entries(sections).map(([key, { name }]) => [name, loaded[key] ?? {}]),
  );
  return describeSettings(Object.values(sections))
    .filter(({ hasEffect }) => hasEffect)
    .map((setting): ListedSetting => {
      const value: unknown = Reflect.get(byName.get(setting.section) ?? {}, setting.key);
      const isSecret = isSecretSetting(setting.key);
      const isDefault = JSON.stringify(value) === JSON.stringify(setting.default);
      return {
        name: setting.path,
        ...(value !== undefined && !isSecret && { value: withoutLogins(value) }),
        ...(setting.default !== undefined && { default: setting.default }),
        is_secret: isSecret,
        is_default: isDefault,
        description: setting.description,
        flag: `--${setting.flags[0]}`,
        variable: setting.env[0] ?? '',
      };
    });
}

/** Replaces logins in URLs, including malformed ones: everything up to the last `@` of each. */
export function withoutLogins(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/:\/\/[^\s,]*@/g, '://***@');
  return Array.isArray(value) ? value.map(withoutLogins) : value;
}
