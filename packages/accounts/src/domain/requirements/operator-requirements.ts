import type { ProvidedFields } from '../../model/account/provided-fields.js';
import type { OperatorRequirement } from '../../model/account/requirements.js';

/**
 * Returns the operator entries that remain after a write; entries for a written field are removed.
 * @param personId Person whose fields were written; without it, fields of the account were written.
 * Source: accounts, section 16.6.
 */
export function unmetOperatorRequirements(
  requirements: readonly OperatorRequirement[],
  provided: ProvidedFields,
  personId?: string,
): readonly OperatorRequirement[] {
  if (requirements.length === 0) return requirements;
  return requirements.filter(({ description, reference }) => {
    const isOfPerson = reference?.type === 'person';
    const isHere = personId === undefined ? !isOfPerson : reference?.resource === personId;
    return !(isHere && provided.has(description));
  });
}
