import { accountsError } from './key-errors.js';

export interface BootstrapKey {
  readonly platform: string;
  readonly text: string;
}

const PLATFORM = /^plat_[A-Za-z0-9_]{1,60}$/;

/**
 * Reads preset keys: `sk_test_...`, `plat_x:sk_test_...`, or a JSON list of `{platform, value}`.
 * The value contains the key's kind and mode. Throws `bootstrap_keys_invalid`; its message never
 * contains a key.
 */
export function readBootstrapKeys(
  setting: readonly string[],
  defaultPlatform: string,
): readonly BootstrapKey[] {
  // A list setting is split at commas, including those inside JSON.
  const whole = setting.join(',').trim();
  if (whole.startsWith('[')) return readJsonList(whole, defaultPlatform);
  return setting.map((entry) => {
    const colon = entry.indexOf(':');
    const platform = colon < 0 ? defaultPlatform : entry.slice(0, colon);
    return checked({ platform, text: entry.slice(colon + 1) });
  });
}

function readJsonList(text: string, defaultPlatform: string): readonly BootstrapKey[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    throw accountsError(
      'bootstrap_keys_invalid',
      'the list is not valid JSON; use a list such as [{"value": "sk_test_..."}]',
    );
  }
  if (!Array.isArray(list))
    throw accountsError('bootstrap_keys_invalid', 'the list must be a JSON array');
  return list.map((item: unknown) => {
    const { platform = defaultPlatform, value } = Object(item) as Record<string, unknown> & {
      platform?: unknown;
      value?: unknown;
    };
    if (typeof value !== 'string' || typeof platform !== 'string') {
      throw accountsError(
        'bootstrap_keys_invalid',
        'every entry requires a "value" string and may have a "platform" string',
      );
    }
    return checked({ platform, text: value });
  });
}

function checked(key: BootstrapKey): BootstrapKey {
  if (PLATFORM.test(key.platform)) return key;
  throw accountsError(
    'bootstrap_keys_invalid',
    'invalid platform id; use "plat_" followed by 1 to 60 letters, digits or underscores',
  );
}
