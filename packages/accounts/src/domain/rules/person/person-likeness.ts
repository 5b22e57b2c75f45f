import type { PersonFields, StoredPerson } from '../../../model/account/person.js';
import type { Violation } from '../../../model/violation.js';
import { violate } from '../violate.js';

/** What makes two Persons of one account the same human being: `undefined` while a part of it is missing. */
function likenessOf(person: PersonFields): string | undefined {
  const { given_name: given, surname, date_of_birth: birth } = person;
  if (!given || !surname || birth === undefined) return undefined;
  return JSON.stringify([fold(given), fold(surname), birth.year, birth.month, birth.day]);
}

/** Letters are the same whatever their case (`ß` is `SS`) and whether an accent is a character of its own. */
const fold = (name: string): string => name.normalize('NFC').trim().toUpperCase().toLowerCase();

/** Section 14, `duplicate_person_not_allowed`. */
export function checkDuplicate(
  person: PersonFields,
  others: readonly StoredPerson[],
  base: string,
): Violation | undefined {
  const likeness = likenessOf(person);
  if (likeness === undefined) return undefined;
  const twin = others.find(({ fields }) => likenessOf(fields) === likeness);
  if (twin === undefined) return undefined;
  return violate('duplicate_person_not_allowed', {
    param: `${base}given_name`,
    message: `${base}given_name, surname and date_of_birth are those of the person ${twin.id}.`,
    extra: { duplicate_person_id: twin.id },
  });
}
