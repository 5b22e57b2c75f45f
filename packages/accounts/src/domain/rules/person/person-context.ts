import type { StoredPerson } from '../../../model/account/person.js';
import type { Collector } from '../../../model/platform/platform-settings.js';
import type { PersonCheck } from '../../../model/rule-input.js';

/** A Person write with values that several rules need. */
export interface PersonContext extends PersonCheck {
  readonly others: readonly StoredPerson[];
  readonly country: string | undefined;
  readonly entityType: string | undefined;
  readonly requirementsCollector: Collector;
}
