import type { PlatformSettings } from '../../../model/platform/platform-settings.js';
import type { Facts } from '../../../model/rule-input.js';
import type { IdNumberHolder } from '../../reference/id-numbers.js';
import type { ProvidedFields } from './provided-fields.js';

/** What the rules of fields look at, the same for accounts and for persons. */
export interface FieldContext {
  readonly provided: ProvidedFields;
  readonly livemode: boolean;
  readonly nowMs: number;
  readonly platform: PlatformSettings;
  readonly facts: Facts;
  readonly accountId: string;
  /** `identity.country` of the account. */
  readonly country: string | undefined;
  /** Whose kinds of numbers its holder may have; of none when no country is known. */
  readonly idNumberCountries: (holder: IdNumberHolder) => readonly string[];
  /** The account has, or is asking for, a recipient configuration. */
  readonly isRecipient: boolean;
}
