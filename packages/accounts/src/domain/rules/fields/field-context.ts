import type { PlatformSettings } from '../../../model/platform/platform-settings.js';
import type { Facts } from '../../../model/rule-input.js';
import type { IdNumberHolder } from '../../reference/id-numbers.js';
import type { ProvidedFields } from './provided-fields.js';

/** Input of the field rules, for accounts and persons. */
export interface FieldContext {
  readonly provided: ProvidedFields;
  readonly livemode: boolean;
  readonly nowMs: number;
  readonly platform: PlatformSettings;
  readonly facts: Facts;
  readonly accountId: string;
  /** `identity.country` of the account. */
  readonly country: string | undefined;
  /** Countries whose id number types the holder may have; empty if no country is known. */
  readonly idNumberCountries: (holder: IdNumberHolder) => readonly string[];
  /** Whether the account has or requests a recipient configuration. */
  readonly isRecipient: boolean;
}
