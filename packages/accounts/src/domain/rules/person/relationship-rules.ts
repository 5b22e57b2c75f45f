import type { StoredPerson } from '../../../model/account/person.js';
import type { Violation } from '../../../model/violation.js';
import { firstViolation, violate } from '../violate.js';
import { exceedsWhole } from './ownership-rules.js';
import type { PersonContext } from './person-context.js';

/** Legal structures that consist of one natural person, without directors. */
const WITHOUT_DIRECTORS: readonly string[] = ['sole_proprietorship', 'single_member_llc'];
const WITHOUT_OWNERS: readonly string[] = ['government_entity', 'non_profit'];

/** Checks which roles a person may have (section 14). */
export function checkRelationships(context: PersonContext): Violation | undefined {
  return firstViolation(
    [
      (person) => checkSingle(person, 'representative', 'additional_representative_not_allowed'),
      (person) => checkSingle(person, 'legal_guardian', 'additional_legal_guardian_not_allowed'),
      checkAdditionalTerms,
      checkGuardianIsOther,
      checkGuardianHasWard,
      (person) => checkSingle(person, 'authorizer', 'authorizer_duplicate'),
      checkAuthorizerIsOther,
      checkRoleExists,
    ],
    context,
  );
}

type SingleRole = 'representative' | 'legal_guardian' | 'authorizer';

function checkSingle(
  context: PersonContext,
  role: SingleRole,
  code:
    | 'additional_representative_not_allowed'
    | 'additional_legal_guardian_not_allowed'
    | 'authorizer_duplicate',
): Violation | undefined {
  if (!isNewly(context, role)) return undefined;
  const holder = context.others.find(({ fields }) => fields.relationship?.[role]);
  if (holder === undefined) return undefined;
  return violate(code, {
    param: `relationship.${role}`,
    message: `relationship.${role} is already true for person ${holder.id}.`,
  });
}

function checkAdditionalTerms(context: PersonContext): Violation | undefined {
  if (!context.requestFields.additional_terms_of_service || roles(context).legal_guardian)
    return undefined;
  return violate('additional_tos_only_allowed_for_legal_guardian', {
    param: 'additional_terms_of_service',
    message: 'additional_terms_of_service can be accepted only by a legal guardian.',
  });
}

function checkGuardianIsOther(context: PersonContext): Violation | undefined {
  const { legal_guardian: isGuardian, representative: isRepresentative } = roles(context);
  if (!isGuardian || !isRepresentative) return undefined;
  return violate('legal_guardian_representative_not_allowed', {
    param: 'relationship.legal_guardian',
    message: 'relationship.legal_guardian and relationship.representative cannot both be true.',
  });
}

function checkGuardianHasWard(context: PersonContext): Violation | undefined {
  if (!isNewly(context, 'legal_guardian')) return undefined;
  if (context.others.some(({ fields }) => fields.relationship?.representative)) return undefined;
  return violate('legal_guardian_requires_existing_representative', {
    param: 'relationship.legal_guardian',
    message: 'relationship.legal_guardian requires a representative on the account.',
  });
}

function checkAuthorizerIsOther(context: PersonContext): Violation | undefined {
  const { authorizer: isAuthorizer, representative: isRepresentative } = roles(context);
  if (!isAuthorizer || !isRepresentative) return undefined;
  return violate('authorizer_relationship_invalid_for_representative', {
    param: 'relationship.authorizer',
    message: 'relationship.authorizer cannot be true for the representative.',
  });
}

function checkRoleExists(context: PersonContext): Violation | undefined {
  const structure = context.account.fields.identity?.business_details?.structure;
  const role =
    isNewly(context, 'director') && structure !== undefined && WITHOUT_DIRECTORS.includes(structure)
      ? 'director'
      : isNewly(context, 'owner') &&
          context.entityType !== undefined &&
          WITHOUT_OWNERS.includes(context.entityType)
        ? 'owner'
        : undefined;
  if (role === undefined) return undefined;
  const kind = role === 'director' ? structure : context.entityType;
  return violate('invalid_relationship_for_identity_type_structure_and_country', {
    param: `relationship.${role}`,
    message: `relationship.${role} is not available for the ${role === 'director' ? 'structure' : 'entity type'} "${kind}".`,
  });
}

/** The shares of all owners cannot exceed 100 % (section 14). */
export function checkTotalOwnership(context: PersonContext): Violation | undefined {
  if (!context.provided.hasAny(['relationship.owner', 'relationship.percent_ownership']))
    return undefined;
  const shares = [context.merged, ...context.others].map(
    ({ fields }: StoredPerson) => fields.relationship,
  );
  if (!exceedsWhole(shares)) return undefined;
  return violate('total_person_ownership_exceeded', {
    param: 'relationship.percent_ownership',
    message: 'relationship.percent_ownership raises the total ownership above 100 %.',
  });
}

function roles(context: PersonContext): NonNullable<StoredPerson['fields']['relationship']> {
  return context.merged.fields.relationship ?? {};
}

/** Whether the request provides the role and the person has it afterwards. */
function isNewly(context: PersonContext, role: SingleRole | 'director' | 'owner'): boolean {
  return context.provided.has(`relationship.${role}`) && roles(context)[role] === true;
}
