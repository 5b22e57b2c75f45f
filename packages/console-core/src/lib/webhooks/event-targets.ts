/** The members of an app that decide whether it receives events. */
interface Receiver {
  readonly suspended_at: string | null;
  readonly hook: {
    readonly active: boolean;
    readonly events: readonly string[];
    readonly config: { readonly url?: string };
  } | null;
}

/** Events of GitHub that apps can subscribe to. */
const GITHUB_EVENTS: readonly string[] = (
  'branch_protection_configuration branch_protection_rule check_run check_suite code_scanning_alert commit_comment ' +
  'create custom_property custom_property_values delete dependabot_alert deploy_key deployment ' +
  'deployment_protection_rule deployment_review deployment_status discussion discussion_comment fork ' +
  'github_app_authorization gollum installation installation_repositories installation_target issue_comment ' +
  'issue_dependencies issues label marketplace_purchase member membership merge_group meta milestone org_block ' +
  'organization package page_build personal_access_token_request project project_card project_column projects_v2 ' +
  'projects_v2_item projects_v2_status_update public pull_request pull_request_review pull_request_review_comment ' +
  'pull_request_review_thread push registry_package release repository repository_advisory repository_dispatch ' +
  'repository_import repository_ruleset repository_vulnerability_alert secret_scanning_alert ' +
  'secret_scanning_alert_location secret_scanning_scan security_advisory security_and_analysis sponsorship star ' +
  'status sub_issues team team_add watch workflow_dispatch workflow_job workflow_run'
).split(' ');

/** Sent to all apps, with or without a subscription. Source: webhooks, section 8.3. */
const ALWAYS_SENT: ReadonlySet<string> = new Set([
  'meta',
  'installation',
  'installation_repositories',
  'github_app_authorization',
]);

/** Returns the names of events, those that apps subscribed to first. */
export function knownEvents(apps: readonly Receiver[]): readonly string[] {
  const subscribed = apps.flatMap(({ hook }) => hook?.events ?? []).filter((each) => each !== '*');
  return [...new Set([...subscribed.map(nameOf).sort(), ...GITHUB_EVENTS])];
}

/** `issues` for `issues.opened` and `issues.*`. The names of other services' events contain dots. */
function nameOf(subscription: string): string {
  const [first = ''] = subscription.split('.');
  return GITHUB_EVENTS.includes(first) ? first : subscription.replace(/\.\*$/, '');
}

/** Returns why an app does not receive an event; `undefined` if it does. */
export function whyNotReceived(
  { hook, suspended_at }: Receiver,
  event: string,
  action: string,
): string | undefined {
  if (suspended_at !== null) return 'suspended';
  if (hook === null || (hook.config.url ?? '') === '') return 'without a webhook';
  if (!hook.active) return 'not active';
  const names = ['*', event, `${event}.*`, ...(action === '' ? [] : [`${event}.${action}`])];
  const isSubscribed = ALWAYS_SENT.has(event) || hook.events.some((each) => names.includes(each));
  return isSubscribed ? undefined : `not subscribed to ${event}`;
}

const SAMPLE_REPOSITORY = { id: 1, name: 'hello', full_name: 'octo/hello', private: false };
const SAMPLE_SENDER = { id: 1, login: 'octocat', type: 'User' };

/** Returns a payload for tests, with the members that most events have. */
export function samplePayload(event: string, action: string): object {
  const common = { repository: SAMPLE_REPOSITORY, sender: SAMPLE_SENDER };
  if (event === 'push') {
    const before = '0'.repeat(40);
    return { ref: 'refs/heads/main', before, after: 'a'.repeat(40), commits: [], ...common };
  }
  return { ...(action !== '' && { action }), ...common };
}
