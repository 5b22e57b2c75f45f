import type { ERROR_CODES, ErrorCode } from '../../model/error-codes.js';

type Codes = typeof ERROR_CODES;
/** Codes whose body has a `user_message`. */
type CodeWithUserMessage = {
  [Code in ErrorCode]: Codes[Code] extends 'U' | 'UD' ? Code : never;
}[ErrorCode];

/**
 * Message for the end user: the same fact without field paths. It never repeats input, so it can be
 * shown anywhere.
 */
const USER_MESSAGES: Readonly<Record<CodeWithUserMessage, string>> = {
  account_configuration_not_supported: 'This kind of account is not available here.',
  account_controller_express_dash_without_application_losses_or_fees:
    'This combination of dashboard and responsibilities is not available.',
  account_controller_vendor_pricing_platform_liable:
    'This combination of fees and losses is not available.',
  account_controller_ua_unsupported_configuration:
    'This combination of dashboard and responsibilities is not available.',
  account_controller_unsupported_configuration:
    'This combination of dashboard and responsibilities is not available.',
  account_controller_unsupported_configuration_private_preview:
    'This combination of dashboard and responsibilities is not part of the preview.',
  account_creation_invalid: 'The account cannot be created at the moment.',
  account_token_required: 'Your details must be sent directly, not through the platform.',
  accounts_v2_access_blocked: 'Accounts are not enabled for this platform.',
  address_characters_invalid: 'The address contains a character that is not allowed.',
  address_country_identity_country_mismatch: 'The address must be in the country of the account.',
  address_postal_code_invalid: 'The postal code is not valid for this country.',
  address_state_invalid: 'The state is not valid for this country.',
  unsupported_state: 'This state is not supported.',
  address_town_invalid: 'The town is not valid.',
  bgn_bank_accounts_unsupported: 'The lev is not supported since 2026. Use the euro.',
  can_create_platform_owned_onboarding_accounts_required:
    'This platform cannot collect your details at the moment.',
  capability_cannot_be_unrequested_due_to_other_capability_requirement:
    'Another feature of the account requires this feature.',
  capability_not_available_for_entity_type_in_country:
    'This feature is not available for this kind of business in this country.',
  capability_not_available_for_loss_collector:
    'This feature is not available for this kind of account.',
  capability_not_available_in_country: 'This feature is not available in this country.',
  capability_not_available_without_other_capability: 'This feature requires another feature.',
  capability_not_available_without_other_capability_in_country:
    'This feature requires another feature in this country.',
  configuration_creation_invalid: 'A setting of the account is not valid.',
  cross_border_connected_account_creation_not_allowed:
    'Accounts in this country are not available here.',
  custom_account_beta: 'Accounts in this country are not available yet.',
  date_of_birth_age_restriction: 'You are too young to hold this account.',
  date_of_birth_invalid: 'The date of birth is not valid.',
  default_currency_immutable: 'The currency of this account can no longer be changed.',
  directorship_declaration_not_allowed_during_account_creation:
    'The directors can only be confirmed after the account was created.',
  email_domain_invalid_for_recipient: 'Use an email address of another provider.',
  email_invalid: 'The email address is not valid.',
  id_number_invalid: 'The number is not valid.',
  incorrect_id_number_for_country: 'This kind of number is not valid for this country.',
  invalid_id_number_for_structure: 'This kind of number is not valid for this kind of business.',
  invalid_konbini_payments_support_phone_number: 'Enter a valid phone number in Japan.',
  invalid_sepa_creditor_id_format: 'The creditor identifier is not valid.',
  mcc_invalid: 'The merchant category is not valid.',
  non_jp_kana_kanji_address: 'Addresses in kana or kanji must be in Japan.',
  ownership_declaration_not_allowed_during_account_creation:
    'The owners can only be confirmed after the account was created.',
  person_percent_ownership_invalid: 'An owner must own more than 0 %.',
  phone_invalid: 'The phone number is not valid.',
  postal_code_required_for_jp_address: 'Enter the postal code.',
  registration_date_invalid: 'The date of registration must be in the past.',
  script_characters_invalid: 'The text contains a character that is not valid in this script.',
  sepa_debit_creditor_identifier_not_allowed: 'This creditor identifier cannot be used.',
  sepa_debit_vendor_creditor_identifier: 'This creditor identifier belongs to someone else.',
  statement_descriptor_invalid: 'The statement descriptor is not valid.',
  tos_acceptance_on_behalf_not_allowed: 'You must accept the terms yourself.',
  unsupported_field_for_configs: 'This setting does not apply to the account.',
  unsupported_identity_field_for_configs: 'These details are not needed for this account.',
  unsupported_postal_code: 'This postal code is not supported.',
  url_invalid: 'The web address is not valid.',
  person_token_required: 'Your details must be sent directly, not through the platform.',
  authorizer_duplicate: 'Another person is already the authorizer.',
  authorizer_relationship_invalid_for_representative:
    'The representative cannot be the authorizer as well.',
  invalid_relationship_for_identity_type_structure_and_country:
    'This role is not available for this kind of business.',
  duplicate_person_not_allowed: 'This person is already part of the account.',
  total_person_ownership_exceeded: 'The shares of all owners exceed 100 %.',
  address_country_mismatch: 'All addresses of a person must be in one country.',
  immutable_identity_param: 'These details can no longer be changed.',
  payout_method_incompatible_type: 'This payout method cannot be used here.',
  incompatible_default_payout_method: 'This payout method cannot be the default.',
  cannot_add_connect_due_to_incompatible_default_payout_method:
    'Change the default payout method first.',
  configs_must_match_to_close: 'The account was not closed.',
  cannot_delete_account_with_balance: 'The account still has a balance.',
  cannot_delete_customer_with_available_cash_balance: 'The account still has a cash balance.',
  pending_transactions_cannot_be_deleted: 'The account still has pending transactions.',
  vendor_loss_liable_cannot_be_deleted: 'This account cannot be closed here.',
};

export function userMessage(code: ErrorCode): string | undefined {
  return Object.hasOwn(USER_MESSAGES, code)
    ? USER_MESSAGES[code as CodeWithUserMessage] // the code is one of the keys
    : undefined;
}
