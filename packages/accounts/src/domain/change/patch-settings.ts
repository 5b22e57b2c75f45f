import { mergePatch } from '@plinth/kernel';
import { readApiVersion } from '../../model/platform/api-version.js';
import {
  DEFAULT_PLATFORM_SETTINGS,
  type PlatformSettings,
} from '../../model/platform/platform-settings.js';
import type { ReferenceLists } from '../../model/platform/reference.js';
import type { VendorWord } from '../../model/platform/vendor-word.js';
import { checkShape } from '../../model/shape/check-shape.js';
import { settingsSchema } from '../../model/shape/operator-params.js';
import { AccountsRefused } from '../../model/violation.js';
import { invalidFields } from '../refusals.js';

/**
 * Applies an operator's patch to settings. A removed member is reset to its default. Members outside the
 * patch are not validated again, so that a later rule does not block every other change. Throws
 * `invalid_fields`.
 */
export function patchSettings(
  settings: PlatformSettings,
  body: Readonly<Record<string, unknown>>,
  { lists, vendorWord }: { readonly lists: ReferenceLists; readonly vendorWord: VendorWord },
): PlatformSettings {
  const patch = vendorWord.settingsToInternal(body);
  const patched = mergePatch(settings, patch) as Readonly<Record<string, unknown>>; // the patch of an object is an object
  const isNamed = ([name]: readonly [string, unknown]): boolean => Object.hasOwn(patch, name);
  const named = Object.fromEntries(Object.entries(patched).filter(isNamed));
  // Removing an absent member is allowed, but an unknown name is an error.
  const unknown = Object.entries(patch).filter(
    ([name]) => !Object.hasOwn(DEFAULT_PLATFORM_SETTINGS, name),
  );
  const { value, failures } = checkShape(settingsSchema(lists), {
    ...DEFAULT_PLATFORM_SETTINGS,
    ...named,
    ...Object.fromEntries(unknown),
  });
  if (failures.length > 0) throw invalidFields(failures);
  const checked = value as PlatformSettings; // the schema has validated the value
  refuseVersion(checked.default_api_version);
  const others = Object.entries(patched).filter((member) => !isNamed(member));
  return { ...checked, ...Object.fromEntries(others) };
}

/**
 * Removes a platform's fixed members from the patch, so that a client can send a complete record
 * back. Throws `invalid_fields` if a value differs.
 */
export function withoutFixed(
  body: Readonly<Record<string, unknown>>,
  fixed: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const isFixed = ([name]: readonly [string, unknown]): boolean => Object.hasOwn(fixed, name);
  const members = Object.entries(body);
  const wrong = members.filter(([name, value]) => isFixed([name, value]) && value !== fixed[name]);
  if (wrong.length > 0) {
    throw invalidFields(
      wrong.map(([field]) => ({
        field,
        code: 'bad_format' as const,
        message: `${field} cannot be changed.`,
      })),
    );
  }
  return Object.fromEntries(members.filter((member) => !isFixed(member)));
}

/** Requests without a version header use this version, so it must be valid as a header. */
function refuseVersion(version: string): void {
  try {
    readApiVersion(version);
  } catch (error) {
    if (!(error instanceof AccountsRefused)) throw error;
    const field = 'default_api_version';
    throw invalidFields([{ field, code: 'bad_format', message: `${field}: ${error.message}` }]);
  }
}
