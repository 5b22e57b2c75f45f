import type { StoredPerson } from '../../../model/account/person.js';
import type { Collector } from '../../../model/platform/platform-settings.js';
import type { PersonCheck } from '../../../model/rule-input.js';

/** A write of a Person with what several rules ask of it. */
export interface PersonContext extends PersonCheck {
  readonly others: readonly StoredPerson[];
  readonly country: string | undefined;
  readonly entityType: string | undefined;
  readonly requirementsCollector: Collector;
}
