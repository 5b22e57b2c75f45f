import type { PersonFields, StoredPerson } from '../../../model/account/person.js';
import type { Violation } from '../../../model/violation.js';
import { violate } from '../violate.js';

/**
 * Returns a key that is equal for two Persons if they are the same human being; `undefined` if a
 * part is missing.
 */
function likenessOf(person: PersonFields): string | undefined {
  const { given_name: given, surname, date_of_birth: birth } = person;
  if (!given || !surname || birth === undefined) return undefined;
  return JSON.stringify([fold(given), fold(surname), birth.year, birth.month, birth.day]);
}

/** Ignores case (`ß` equals `SS`) and the Unicode form of accents. */
const fold = (name: string): string => name.normalize('NFC').trim().toUpperCase().toLowerCase();

/** A Person must not duplicate another (section 14, `duplicate_person_not_allowed`). */
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
    message: `${base}given_name, surname and date_of_birth match those of person ${twin.id}.`,
    extra: { duplicate_person_id: twin.id },
  });
}
