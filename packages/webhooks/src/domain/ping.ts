import { isoSeconds, maskUrlAndQuery } from '@plinth/kernel';
import { type Hook, SECRET_MASK } from '../model/hook.js';

/** Each ping contains one of these sentences. */
const SENTENCES = [
  'Write it down before you acknowledge it.',
  'A queue that is never full was never tested.',
  'Deliver at least once; remember that you did.',
  'Small messages travel far.',
  'Sign every message, and make every retry harmless.',
];

/** Returns the payload of the `ping` event. Source: webhooks, section 6.7. */
export function pingPayload(
  hook: Hook,
  options: { readonly apiUrl: string; readonly chance: number },
) {
  return {
    zen: SENTENCES[Math.floor(options.chance * SENTENCES.length)] ?? SENTENCES[0],
    hook_id: hook.id,
    hook: {
      type: 'App',
      id: hook.id,
      name: 'web',
      active: hook.active,
      events: hook.events,
      // Stored payloads are sent unchanged, so the URL is masked here.
      config: describeConfig(hook, maskUrlAndQuery),
      updated_at: isoSeconds(hook.updatedMs),
      created_at: isoSeconds(hook.createdMs),
      app_id: hook.appId,
      deliveries_url: `${options.apiUrl}/app/hook/deliveries`,
    },
  };
}

/**
 * Returns the webhook's configuration with a masked secret. Source: webhooks, section 4. @param
 * mask hides the parts of the URL that the reader may not see.
 */
export function describeConfig(hook: Hook, mask: (url: string) => string): object {
  return {
    content_type: hook.content_type,
    insecure_ssl: hook.insecure_ssl ? '1' : '0',
    ...(hook.secrets.current !== undefined && { secret: SECRET_MASK }),
    url: mask(hook.url),
  };
}

/** Returns the reason and time at which the server disabled the webhook; empty if it did not. */
export const describeDisabled = ({ disabled }: Hook): object =>
  disabled === undefined
    ? {}
    : { disabled_reason: disabled.reason, disabled_at: isoSeconds(disabled.atMs) };
