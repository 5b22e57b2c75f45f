import type { ErrorCode } from '../../model/error-codes.js';

/**
 * Explanation and fix for each code, for the page that `doc_url` points to. A code without an
 * explanation does not compile. Explanations use the canonical vendor name; the page shows the
 * configured one.
 */
export const ERROR_GUIDE: Readonly<Record<ErrorCode, string>> = {
  invalid_fields:
    'Fields are unknown, missing, or have a wrong type or value. invalid_fields lists all of them, each with its own code.',
  invalid_json: 'The body is not JSON, or not a JSON object.',
  invalid_api_version:
    'The version header does not have the form YYYY-MM-DD.release_name with a valid date.',
  unsupported_api_version: 'The version is older than the first release, 2024-09-30.',
  api_version_required: 'This platform requires a version header with every request.',
  invalid_page:
    'The page token was truncated or belongs to a list with other filters. Start at the first page.',
  invalid_idempotency_key:
    'The idempotency key is not valid; use 1 to 255 printable ASCII characters.',
  account_closed: 'The account is closed: it can be read but not changed.',
  api_key_missing: 'Send Authorization: Bearer followed by a key.',
  api_key_invalid: 'The key is unknown, or the Authorization header has another scheme.',
  api_key_expired: 'The key has expired or was revoked. Request a new key from the operator.',
  secret_key_required: 'A publishable key can only create tokens. Use a secret key.',
  operator_token_required: "Operator paths require the server's admin token.",
  not_found: 'The id is unknown, or belongs to another platform or to the other mode.',
  precondition_failed:
    'The object was changed after the version in If-Match was read. Read it again, then repeat the change.',
  unrecognized_url: 'This path does not exist.',
  method_not_allowed:
    'The path does not support this method. The Allow header lists the supported ones.',
  request_timeout: 'The body was sent too slowly.',
  request_too_large: 'The body is larger than the server accepts.',
  unsupported_media_type: 'The content type must be application/json.',
  idempotency_error: 'The idempotency key was used with other parameters. Use a new key.',
  idempotency_key_in_use: 'The first request with this key is still running. Retry later.',
  account_rate_limit_exceeded:
    'Too many concurrent writes to one account. Wait for one of them and retry.',
  service_overloaded: "The server's write queue is full. Retry later.",
  api_error: 'The server failed. Retry with the same idempotency key.',
  account_capability_not_supported: 'The platform does not offer this capability.',
  account_configuration_not_supported: 'The platform does not offer this configuration.',
  account_controller_express_dash_without_application_losses_or_fees:
    'If dashboard is "express", fees_collector and losses_collector must be "application".',
  account_controller_vendor_pricing_platform_liable:
    'If losses_collector is "application", fees_collector must be "application" too.',
  account_controller_ua_unsupported_configuration:
    'Unified accounts do not support this combination of dashboard and responsibilities. invalid_permutation repeats it.',
  account_controller_unsupported_configuration:
    'This combination of dashboard and responsibilities is not supported. invalid_permutation repeats it.',
  account_controller_unsupported_configuration_private_preview:
    'The private preview of this platform does not include this combination.',
  account_country_unsupported_currency: 'Accounts in this country cannot have this currency.',
  account_create_activation_required:
    'The platform must be activated in this mode before it creates merchants or recipients.',
  account_creation_invalid:
    'The platform has reached its account limit, or requires a contact_email.',
  account_creation_liability_unacknowledged:
    'The platform must acknowledge its liability before it collects losses. Set acknowledged.liability for the platform.',
  account_creation_losses_collector_unavailable:
    'The platform does not allow this losses_collector. Use another one, or change losses_collector_available for the platform.',
  account_creation_requirement_collection_and_liability_unacknowledged:
    'The platform must acknowledge its liability and requirement collection. Set acknowledged.liability and acknowledged.requirement_collection for the platform.',
  account_creation_requirement_collection_unacknowledged:
    'The platform must acknowledge requirement collection. Set acknowledged.requirement_collection for the platform.',
  account_terms_of_service_not_accepted:
    'The terms must be accepted before a merchant configuration is added.',
  account_token_required:
    "In the platform's country, these fields must be sent in an account_token created with the publishable key.",
  accounts_v2_access_blocked: 'Accounts v2 is disabled for this platform.',
  address_characters_invalid: 'The address has a character that is not valid in addresses.',
  address_country_identity_country_mismatch:
    'The main address must be in the country of identity.country.',
  address_postal_code_invalid: 'The postal code does not match the format of this country.',
  address_state_invalid: 'The state is neither a code nor a name of a state of this country.',
  unsupported_state: 'The platform does not support this state.',
  address_town_invalid: 'A town has 1 to 100 characters, including a letter or a number.',
  bgn_bank_accounts_unsupported: 'The euro replaced the lev on 2026-01-01.',
  can_create_platform_owned_onboarding_accounts_required:
    'A dormant platform cannot collect requirements. Use another dashboard or losses_collector.',
  cannot_create_connected_account:
    "The platform's state does not allow new merchants or recipients.",
  cannot_create_new_account_rejected: 'The platform was rejected.',
  capability_cannot_be_unrequested_due_to_other_capability_requirement:
    'Another requested capability requires this one. Remove that one first.',
  capability_not_available_for_dashboard_type:
    'The capability is not available with this dashboard.',
  capability_not_available_for_entity_type_in_country:
    'Entities of this type cannot have the capability in this country.',
  capability_not_available_for_loss_collector:
    'The capability is not available while losses_collector is "vendor".',
  capability_not_available_in_country: 'The capability is not available in this country.',
  capability_not_available_in_platform_country:
    'Platforms in this country cannot request the capability.',
  capability_not_available_without_other_capability:
    'Also request the capability named in the message.',
  capability_not_available_without_other_capability_in_country:
    'In this country, also request the capability named in the message.',
  configuration_creation_invalid:
    'A setting prevents the configuration from being applied for the first time.',
  connect_identity_not_verified: 'The identity of the platform must be verified first.',
  connect_profile_not_submitted: 'The platform must submit its questionnaire first.',
  cross_border_connected_account_creation_not_allowed:
    "Platforms in the platform's country cannot have merchants or recipients in this country.",
  custom_account_beta:
    'Platforms cannot collect the requirements of accounts in this country without the custom account beta.',
  date_of_birth_age_restriction: 'The person is younger than age_limit.',
  date_of_birth_invalid: 'The date is not between 1900 and today.',
  default_currency_immutable: 'The currency is fixed after a capability was active.',
  default_payment_method_invalid: 'The payment method is unknown or detached.',
  default_payment_method_invalid_type:
    'Payment methods of this type cannot be charged again later.',
  directorship_declaration_not_allowed_during_account_creation:
    'Create the account first, then send the declaration in an update.',
  document_invalid: 'The file is unknown, deleted or belongs to another account.',
  document_purpose_invalid: 'The file was uploaded for another purpose.',
  email_domain_invalid_for_recipient: 'Recipients cannot be reached at this domain.',
  email_invalid: 'The value is not an email address.',
  entity_type_not_supported_in_country: 'Entities of this type are not supported in this country.',
  high_risk_activities_none_cant_be_combined_with_other_options:
    '"none" cannot be combined with other values.',
  id_number_invalid: 'The number does not match the format of its type.',
  identity_country_required: 'Set identity.country first.',
  incorrect_id_number_for_country: 'Numbers of this type are issued in another country.',
  incorrect_token_wrong_type:
    'A person token was sent as account_token, or an account token as person_token.',
  invalid_id_number_for_structure: 'Entities of this type and structure do not have such a number.',
  invalid_id_number_registrar:
    'registrar is allowed only with types that start with de_ and must be a German register court, such as Amtsgericht München.',
  invalid_konbini_payments_support_hours:
    'Both hours must have the form HH:MM, with the start before the end.',
  invalid_konbini_payments_support_phone_number: 'The number must be a Japanese phone number.',
  invalid_sepa_creditor_id_format:
    'The format or the check digits of the creditor identifier are not valid.',
  invalid_timezone: 'The name is not in the IANA time zone database; offsets are not accepted.',
  invoice_rendering_template_invalid: 'The template is unknown or archived.',
  ip_address_invalid: 'The value is neither an IPv4 nor an IPv6 address.',
  mcc_invalid: 'The code is not a merchant category code of ISO 18245.',
  non_connect_platform_accounts_v2_access_blocked:
    'Register the platform for connect, or use a later API version.',
  non_jp_kana_kanji_address: 'Only addresses in Japan can be in kana and kanji.',
  ownership_declaration_not_allowed_during_account_creation:
    'Create the account first, then send the declaration in an update.',
  param_alongside_account_token: 'Fields in the token cannot be sent in the request as well.',
  person_percent_ownership_invalid: 'The percentage of an owner must be above 0.',
  phone_invalid: 'The value is not a valid phone number. Send it with its country prefix.',
  platform_registration_required: 'The platform must register for connect first.',
  postal_code_required_for_jp_address: 'Addresses in Japan need a postal code.',
  purpose_of_funds_description_must_be_empty_for_non_other_purpose_of_funds:
    'The description is only allowed with the purpose "other".',
  registration_date_invalid: 'The date is not in the past.',
  script_characters_invalid: 'The value has a character that does not belong to this script.',
  sepa_debit_creditor_identifier_not_allowed: 'The creditor identifier is blocked.',
  sepa_debit_vendor_creditor_identifier:
    'The creditor identifier is the one shared by all accounts.',
  shipping_address_required: 'Shipping needs an address.',
  shipping_name_required: 'Shipping needs a name.',
  statement_descriptor_invalid:
    'A descriptor has 5 to 22 characters, a prefix 2 to 10. Both need a letter and cannot contain < > \\ \' " *.',
  structure_incompatible_for_entity_type_country:
    'This structure is not available for the entity type in this country.',
  test_clock_disallowed_on_live_mode: 'Test clocks are only available in test mode.',
  test_clock_invalid: 'The clock is unknown or failed, or the account was a customer before.',
  test_clocks_advance_in_progress: 'The clock is advancing. Wait until it is ready.',
  test_clocks_customer_limit_reached: 'The clock already has three open accounts.',
  token_already_used:
    'A token can be used only once. Retry the same request with its idempotency key.',
  token_expired: 'The token has expired. Create another; tokens are valid for a few minutes.',
  tos_acceptance_on_behalf_not_allowed:
    'While the vendor collects requirements, the account must accept the terms itself.',
  unsupported_field_for_configs: 'Responsibilities require a merchant or recipient configuration.',
  unsupported_identity_field_for_configs:
    'An account that is only a customer cannot have this field.',
  unsupported_postal_code: 'The platform does not support this postal code.',
  url_invalid: 'The value is not an http or https URL of a public host.',
  v1_token_invalid_in_v2: 'The token was created by the v1 API.',
  invalid_account_token:
    'The token is unknown, or belongs to another platform or to the other mode.',
  token_must_be_created_with_publishable_key:
    'In live mode, tokens must be created with the publishable key.',
  invalid_person_token:
    'The token is unknown, or belongs to another platform or to the other mode.',
  param_alongside_person_token: 'person_token cannot be combined with other fields.',
  incorrect_account_for_person_token: 'The token was created for another account.',
  person_token_required:
    "In the platform's country, persons must be sent in a person_token created with the publishable key.",
  v1_customer_instead_of_v2_account: 'The id belongs to a v1 customer.',
  v1_account_instead_of_v2_account: 'The id belongs to a v1 account.',
  account_not_yet_compatible_with_v2: 'The account cannot be used with this API yet.',
  additional_representative_not_allowed: 'An account can have only one representative.',
  additional_legal_guardian_not_allowed: 'An account can have only one legal guardian.',
  additional_tos_only_allowed_for_legal_guardian:
    'Only a legal guardian can accept additional terms.',
  legal_guardian_representative_not_allowed:
    'Legal guardian and representative must be different persons.',
  legal_guardian_requires_existing_representative: 'Add the representative first.',
  authorizer_duplicate: 'An account can have only one authorizer.',
  authorizer_relationship_invalid_for_representative:
    'Authorizer and representative must be different persons.',
  individual_additional_person_not_allowed: 'An individual account has only one person.',
  account_person_limit_reached: 'An account can have at most 500 persons.',
  invalid_relationship_for_identity_type_structure_and_country:
    'An entity of this type and structure does not have this role.',
  duplicate_person_not_allowed: 'duplicate_person_id has the same name and date of birth.',
  total_person_ownership_exceeded: 'The percentages of all owners cannot exceed 100.',
  address_country_required: 'Every address of a person needs a country.',
  address_country_mismatch: 'All addresses of a person must be in one country.',
  immutable_identity_param:
    'The field is fixed, because a capability was active, it was verified, or it is locked.',
  attach_payment_method_to_customer: 'Attach the payment method to this account first.',
  cannot_use_validate_location_on_customer_create:
    'Locations are only validated for accounts that are customers already.',
  customer_invalid_tax_location:
    'The location_source does not contain a country. incorrect_fields names the missing fields.',
  configuration_cannot_be_deactivated: 'Capabilities of the configuration are active in live mode.',
  configuration_cannot_be_deactivated_due_to_other_capability_requirement:
    'A capability of another configuration requires this one.',
  configuration_cannot_be_deactivated_due_to_other_configuration:
    'Another configuration requires this one.',
  configuration_cannot_be_updated_while_deactivated:
    'Set applied to true to use the configuration again.',
  default_outbound_destination_invalid: 'The account does not have this payout method.',
  payout_method_incompatible_type: 'The payout method belongs to the v1 API.',
  incompatible_default_payout_method:
    'The payout method is unknown or has a type that cannot be a default.',
  cannot_add_connect_due_to_incompatible_default_payout_method:
    'Change the default payout method before the account becomes a merchant or recipient.',
  configs_must_match_to_close:
    'Send all configurations of the account, as applied_configurations lists them, or none.',
  cannot_delete_account_with_balance: 'Pay the balance out first.',
  cannot_delete_customer_with_available_cash_balance: 'Use or refund the cash balance first.',
  pending_transactions_cannot_be_deleted: 'Wait until no transaction is pending.',
  vendor_loss_liable_cannot_be_deleted:
    'In live mode, an account with this dashboard cannot be deleted while the vendor collects its losses.',
};
