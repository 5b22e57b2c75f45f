import { mergePatch } from '@plinth/kernel';
import { readApiVersion } from '../../model/platform/api-version.js';
import {
  DEFAULT_PLATFORM_SETTINGS,
  type PlatformSettings,
} from '../../model/platform/platform-settings.js';
import type { ReferenceLists } from '../../model/platform/reference.js';
import type { VendorTerms } from '../../model/platform/vendor-terms.js';
import { checkShape } from '../../model/shape/check-shape.js';
import { settingsSchema } from '../../model/shape/operator-params.js';
import { AccountsRefused } from '../../model/violation.js';
import { invalidFields } from '../refusals.js';

/**
 * Settings after an operator's patch; a member that it removes takes its default. Members that it does not name stay as
 * they were taken once: a rule that came later must not refuse every other change. Throws `invalid_fields`.
 */
export function patchSettings(
  settings: PlatformSettings,
  body: Readonly<Record<string, unknown>>,
  { lists, terms }: { readonly lists: ReferenceLists; readonly terms: VendorTerms },
): PlatformSettings {
  const given = terms.takeInSettings(body);
  const patched = mergePatch(settings, given) as Readonly<Record<string, unknown>>; // `given` is an object
  const isNamed = ([name]: readonly [string, unknown]): boolean => Object.hasOwn(given, name);
  const named = Object.fromEntries(Object.entries(patched).filter(isNamed));
  // What is not there can be removed, but what cannot be there is a slip of the hand.
  const unknown = Object.entries(given).filter(
    ([name]) => !Object.hasOwn(DEFAULT_PLATFORM_SETTINGS, name),
  );
  const { value, failures } = checkShape(settingsSchema(lists), {
    ...DEFAULT_PLATFORM_SETTINGS,
    ...named,
    ...Object.fromEntries(unknown),
  });
  if (failures.length > 0) throw invalidFields(failures);
  const checked = value as PlatformSettings; // as the schema describes it
  refuseVersion(checked.default_api_version);
  const others = Object.entries(patched).filter((member) => !isNamed(member));
  return { ...checked, ...Object.fromEntries(others) };
}

/**
 * The patch without what a platform has for good: a record may be sent back as it was answered. Throws `invalid_fields`
 * for another value.
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

/** Requests without a header are answered in it, so it is held to what a header is held to. */
function refuseVersion(version: string): void {
  try {
    readApiVersion(version);
  } catch (error) {
    if (!(error instanceof AccountsRefused)) throw error;
    const field = 'default_api_version';
    throw invalidFields([{ field, code: 'bad_format', message: `${field}: ${error.message}` }]);
  }
}
