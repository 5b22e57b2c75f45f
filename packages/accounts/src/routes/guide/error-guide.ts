import type { ErrorCode } from '../../model/error-codes.js';

/**
 * What each code means and what helps, for the page that `doc_url` leads to. A code without a text does not compile.
 * Words are canonical; the page shows the configured ones.
 */
export const ERROR_GUIDE: Readonly<Record<ErrorCode, string>> = {
  invalid_fields:
    'Fields are unknown, missing or of another type or range. invalid_fields lists all of them, each with its own code.',
  invalid_json: 'The body is not JSON, or not an object.',
  invalid_api_version:
    'The version header is not of the form YYYY-MM-DD.release_name with a day of the calendar.',
  unsupported_api_version: 'The version is from before the first release, 2024-09-30.',
  api_version_required: 'This platform asks for a version header with every request.',
  invalid_page:
    'The page token was cut or belongs to a list with other filters. Begin at the first page.',
  invalid_idempotency_key: 'An idempotency key has 1 to 255 printable ASCII characters.',
  account_closed: 'The account is closed: it can be read and never changes again.',
  api_key_missing: 'Send Authorization: Bearer followed by a key.',
  api_key_invalid: 'No platform has this key, or the Authorization header has another scheme.',
  api_key_expired: 'The key has expired or was revoked. Ask the operator for another.',
  secret_key_required: 'A publishable key can create tokens and nothing else.',
  operator_token_required: "Operator paths need the server's admin token.",
  not_found: 'The id is unknown, or belongs to another platform or to the other mode.',
  unrecognized_url: 'Nothing is served at this path.',
  method_not_allowed: 'The path exists with the methods that the Allow header names.',
  request_timeout: 'The body came so slowly that the server did not wait for its end.',
  request_too_large: 'The body has more bytes than the server takes.',
  unsupported_media_type: 'Bodies are application/json.',
  idempotency_error: 'The idempotency key was used with other parameters. Use a fresh key.',
  idempotency_key_in_use:
    'The first request with this key is still running. Repeat it a little later.',
  account_rate_limit_exceeded:
    'Too many writes to one account run at the same time. Wait for one of them and repeat.',
  service_overloaded: 'More is waiting to be stored than the server queues. Repeat a little later.',
  api_error:
    'Something failed on our side. The request can be repeated with the same idempotency key.',
  account_capability_not_supported: 'The platform does not offer this capability.',
  account_configuration_not_supported: 'The platform does not offer this configuration.',
  account_controller_express_dash_without_application_losses_or_fees:
    'The express dashboard needs fees_collector and losses_collector to be application.',
  account_controller_vendor_pricing_platform_liable:
    'losses_collector application needs fees_collector application as well.',
  account_controller_ua_unsupported_configuration:
    'This combination of dashboard and responsibilities is not offered with unified accounts. invalid_permutation repeats it.',
  account_controller_unsupported_configuration:
    'This combination of dashboard and responsibilities is not offered. invalid_permutation repeats it.',
  account_controller_unsupported_configuration_private_preview:
    'The private preview of this platform does not include this combination.',
  account_country_unsupported_currency: 'Accounts in this country cannot have this currency.',
  account_create_activation_required:
    'The platform has to be activated in this mode before it creates merchants or recipients.',
  account_creation_invalid:
    'The platform has as many accounts as it may have, or wants a contact_email.',
  account_creation_liability_unacknowledged:
    'The platform has to acknowledge its liability before it collects losses.',
  account_creation_losses_collector_unavailable:
    'This losses_collector is not available to the platform.',
  account_creation_requirement_collection_and_liability_unacknowledged:
    'The platform has to acknowledge both its liability and that it collects requirements.',
  account_creation_requirement_collection_unacknowledged:
    'The platform has to acknowledge that it collects requirements.',
  account_terms_of_service_not_accepted:
    'The terms have to be accepted before a merchant configuration is added.',
  account_token_required:
    "In the platform's country these details have to come in an account_token, made with the publishable key.",
  accounts_v2_access_blocked: 'Accounts v2 is switched off for this platform.',
  address_characters_invalid: 'The address has a character that addresses do not have.',
  address_country_identity_country_mismatch:
    'The main address has to be in the country of identity.country.',
  address_postal_code_invalid: 'The postal code does not have the form of this country.',
  address_state_invalid: 'The state is neither a code nor a name of a state of this country.',
  unsupported_state: 'The platform does not support this state.',
  address_town_invalid: 'A town has 1 to 100 characters, a letter or a number among them.',
  bgn_bank_accounts_unsupported: 'The euro took the place of the lev on 2026-01-01.',
  can_create_platform_owned_onboarding_accounts_required:
    'A dormant platform cannot have accounts whose requirements it collects.',
  cannot_create_connected_account:
    'The platform is in a state that does not allow new merchants or recipients.',
  cannot_create_new_account_rejected: 'The platform was rejected.',
  capability_cannot_be_unrequested_due_to_other_capability_requirement:
    'Another requested capability needs this one. Give that one up first.',
  capability_not_available_for_dashboard_type: 'The capability does not go with this dashboard.',
  capability_not_available_for_entity_type_in_country:
    'Entities of this type cannot have the capability in this country.',
  capability_not_available_for_loss_collector:
    'The capability is not available while losses_collector is vendor.',
  capability_not_available_in_country: 'The capability does not exist in this country.',
  capability_not_available_in_platform_country:
    'Platforms in this country cannot request the capability.',
  capability_not_available_without_other_capability:
    'Request the capability that the message names, too.',
  capability_not_available_without_other_capability_in_country:
    'In this country, request the capability that the message names, too.',
  configuration_creation_invalid:
    'A setting keeps the configuration from being applied for the first time.',
  connect_identity_not_verified: 'The identity of the platform has to be verified first.',
  connect_profile_not_submitted: 'The platform has to submit its questionnaire first.',
  cross_border_connected_account_creation_not_allowed:
    'A platform in its country cannot have accounts in this one.',
  custom_account_beta: 'In this country a platform cannot collect requirements itself yet.',
  date_of_birth_age_restriction: 'The person is younger than age_limit.',
  date_of_birth_invalid: 'The date is no day between 1900 and today.',
  default_currency_immutable: 'The currency is fixed once a capability was active.',
  default_payment_method_invalid: 'The payment method is unknown or detached.',
  default_payment_method_invalid_type:
    'Payment methods of this type cannot be charged again later.',
  directorship_declaration_not_allowed_during_account_creation:
    'Create the account first; the declaration belongs to an update.',
  document_invalid: 'The file is unknown, deleted or belongs to another account.',
  document_purpose_invalid: 'The file was uploaded for another purpose.',
  email_domain_invalid_for_recipient: 'Recipients cannot be reached at this domain.',
  email_invalid: 'The text is not an email address.',
  entity_type_not_supported_in_country: 'Entities of this type are not supported in this country.',
  high_risk_activities_none_cant_be_combined_with_other_options: 'none stands alone in the list.',
  id_number_invalid: 'The number does not have the form of its type.',
  identity_country_required: 'identity.country has to be known first.',
  incorrect_id_number_for_country: 'Numbers of this type are given out in another country.',
  incorrect_token_wrong_type: 'A person token is no account token, and the other way round.',
  invalid_id_number_for_structure: 'Entities of this type and structure do not have such a number.',
  invalid_id_number_registrar:
    'registrar is for German register numbers and names a register court.',
  invalid_konbini_payments_support_hours: 'Both hours are HH:MM, the start before the end.',
  invalid_konbini_payments_support_phone_number: 'The number has to be one in Japan.',
  invalid_sepa_creditor_id_format:
    'The form or the check digits of the creditor identifier are wrong.',
  invalid_timezone: 'The name is not in the IANA time zone database; offsets are no names.',
  invoice_rendering_template_invalid: 'The template is unknown or archived.',
  ip_address_invalid: 'The text is neither an IPv4 nor an IPv6 address.',
  mcc_invalid: 'The code is not among the merchant category codes of ISO 18245.',
  non_connect_platform_accounts_v2_access_blocked:
    'Register the platform for connect, or use a later API version.',
  non_jp_kana_kanji_address: 'Addresses in kana and kanji are in Japan.',
  ownership_declaration_not_allowed_during_account_creation:
    'Create the account first; the declaration belongs to an update.',
  param_alongside_account_token: 'What the token holds cannot be sent beside it.',
  person_percent_ownership_invalid: 'An owner owns more than 0 %.',
  phone_invalid: 'No telephone can have this number. Send it with its country prefix.',
  platform_registration_required: 'The platform has to register for connect first.',
  postal_code_required_for_jp_address: 'Addresses in Japan need a postal code.',
  purpose_of_funds_description_must_be_empty_for_non_other_purpose_of_funds:
    'The description goes with the purpose other alone.',
  registration_date_invalid: 'The date is no day in the past.',
  script_characters_invalid: 'The text has a character that is not written in this script.',
  sepa_debit_creditor_identifier_not_allowed: 'The creditor identifier is blocked.',
  sepa_debit_vendor_creditor_identifier: 'The creditor identifier is one that all accounts share.',
  shipping_address_required: 'Shipping needs an address.',
  shipping_name_required: 'Shipping needs a name.',
  statement_descriptor_invalid:
    'A descriptor has 5 to 22 characters, a prefix 2 to 10, a letter among them and none of < > \\ \' " *.',
  structure_incompatible_for_entity_type_country:
    'This structure does not exist for the entity type in this country.',
  test_clock_disallowed_on_live_mode: 'Test clocks are for test mode.',
  test_clock_invalid: 'The clock is unknown or failed, or the account was a customer before.',
  test_clocks_advance_in_progress: 'The clock is advancing. Wait until it is ready.',
  test_clocks_customer_limit_reached: 'Three open accounts are on the clock already.',
  token_already_used:
    'A token is used once. The same request can be repeated with its idempotency key.',
  token_expired: 'Create another token; each lives a few minutes.',
  tos_acceptance_on_behalf_not_allowed:
    'While the vendor collects requirements, the account accepts the terms itself.',
  unsupported_field_for_configs: 'Responsibilities need a merchant or recipient configuration.',
  unsupported_identity_field_for_configs:
    'An account that is only a customer does not have this detail.',
  unsupported_postal_code: 'The platform does not support this postal code.',
  url_invalid: 'The text is not the http or https address of a public host.',
  v1_token_invalid_in_v2: 'The token was made by an older API.',
  invalid_account_token: 'The token is unknown, of another platform or of the other mode.',
  token_must_be_created_with_publishable_key:
    'In live mode tokens are made with the publishable key.',
  invalid_person_token: 'The token is unknown, of another platform or of the other mode.',
  param_alongside_person_token: 'A person_token is sent alone.',
  incorrect_account_for_person_token: 'The token was made for another account.',
  person_token_required:
    "In the platform's country persons come in a person_token, made with the publishable key.",
  v1_customer_instead_of_v2_account: 'The id is that of a customer of an older API.',
  v1_account_instead_of_v2_account: 'The id is that of an account of an older API.',
  account_not_yet_compatible_with_v2: 'The account cannot be used with this API yet.',
  additional_representative_not_allowed: 'An account has one representative.',
  additional_legal_guardian_not_allowed: 'An account has one legal guardian.',
  additional_tos_only_allowed_for_legal_guardian: 'Only a legal guardian accepts additional terms.',
  legal_guardian_representative_not_allowed: 'Legal guardian and representative are two persons.',
  legal_guardian_requires_existing_representative: 'Add the representative first.',
  authorizer_duplicate: 'An account has one authorizer.',
  authorizer_relationship_invalid_for_representative:
    'Authorizer and representative are two persons.',
  individual_additional_person_not_allowed: 'An individual is the one person of its account.',
  account_person_limit_reached: 'An account has 500 persons at most.',
  invalid_relationship_for_identity_type_structure_and_country:
    'An entity of this type and structure has no such role.',
  duplicate_person_not_allowed: 'duplicate_person_id has the same name and date of birth.',
  total_person_ownership_exceeded: 'All owners own 100 % at most.',
  address_country_required: 'Every address of a person has a country.',
  address_country_mismatch: 'All addresses of a person are in one country.',
  immutable_identity_param:
    'The detail is fixed: a capability was active, it was verified, or it is locked.',
  attach_payment_method_to_customer: 'Attach the payment method to this account first.',
  cannot_use_validate_location_on_customer_create:
    'Locations are checked on accounts that are customers already.',
  customer_invalid_tax_location:
    'No country could be found at the location_source. incorrect_fields names what is missing.',
  configuration_cannot_be_deactivated: 'Capabilities of the configuration are active in live mode.',
  configuration_cannot_be_deactivated_due_to_other_capability_requirement:
    'A capability of another configuration needs this one.',
  configuration_cannot_be_deactivated_due_to_other_configuration:
    'Another configuration needs this one.',
  configuration_cannot_be_updated_while_deactivated:
    'Send applied true to use the configuration again.',
  default_outbound_destination_invalid: 'The account has no such payout method.',
  payout_method_incompatible_type: 'The payout method is of an older kind.',
  incompatible_default_payout_method:
    'The payout method is unknown or of a type that cannot be a default.',
  cannot_add_connect_due_to_incompatible_default_payout_method:
    'Change the default payout method before the account becomes a merchant or recipient.',
  configs_must_match_to_close:
    'Name all configurations of the account, as applied_configurations repeats them, or none.',
  cannot_delete_account_with_balance: 'Pay the balance out first.',
  cannot_delete_customer_with_available_cash_balance: 'Use or pay back the cash balance first.',
  pending_transactions_cannot_be_deleted: 'Wait until no transaction is pending.',
  vendor_loss_liable_cannot_be_deleted:
    'In live mode an account with this dashboard whose losses the vendor collects stays.',
};
