import { isoSeconds, maskUrlAndQuery } from '@plinth/kernel';
import { type Hook, SECRET_MASK } from '../model/hook.js';

/** Short sentences that say nothing wrong; each ping carries one. */
const SENTENCES = [
  'Say it once, and write it down.',
  'A queue that is never full was never asked.',
  'Deliver at least once; remember that you did.',
  'Small messages travel far.',
  'What is signed can be trusted, what is retried must be harmless.',
];

/** Payload of the event `ping`. Source: webhooks, section 6.7. */
export function pingPayload(hook: Hook, at: { readonly apiUrl: string; readonly chance: number }) {
  return {
    zen: SENTENCES[Math.floor(at.chance * SENTENCES.length)] ?? SENTENCES[0],
    hook_id: hook.id,
    hook: {
      type: 'App',
      id: hook.id,
      name: 'web',
      active: hook.active,
      events: hook.events,
      // Payloads are stored as they are sent.
      config: describeConfig(hook, maskUrlAndQuery),
      updated_at: isoSeconds(hook.updatedMs),
      created_at: isoSeconds(hook.createdMs),
      app_id: hook.appId,
      deliveries_url: `${at.apiUrl}/app/hook/deliveries`,
    },
  };
}

/**
 * The webhook's configuration as it is shown: the secret only as a mask. Source: webhooks, section 4.
 * @param mask what its reader may not see of the URL.
 */
export function describeConfig(hook: Hook, mask: (url: string) => string): object {
  return {
    content_type: hook.content_type,
    insecure_ssl: hook.insecure_ssl ? '1' : '0',
    ...(hook.secrets.current !== undefined && { secret: SECRET_MASK }),
    url: mask(hook.url),
  };
}

/** Why and when the server switched it off by itself; nothing otherwise. */
export const describeDisabled = ({ disabled }: Hook): object =>
  disabled === undefined
    ? {}
    : { disabled_reason: disabled.reason, disabled_at: isoSeconds(disabled.atMs) };
