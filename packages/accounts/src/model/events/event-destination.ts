import type { Tenant } from '../platform/tenant.js';
import { timestamp } from '../timestamps.js';

/** All event types of the service. Source: accounts, section 17.1. */
export const EVENT_TYPES = [
  'v2.core.account.created',
  'v2.core.account.updated',
  'v2.core.account.closed',
  'v2.core.account[configuration.customer].updated',
  'v2.core.account[configuration.merchant].updated',
  'v2.core.account[configuration.recipient].updated',
  'v2.core.account[configuration.customer].capability_status_updated',
  'v2.core.account[configuration.merchant].capability_status_updated',
  'v2.core.account[configuration.recipient].capability_status_updated',
  'v2.core.account[defaults].updated',
  'v2.core.account[identity].updated',
  'v2.core.account[requirements].updated',
  'v2.core.account[future_requirements].updated',
  'v2.core.account_person.created',
  'v2.core.account_person.updated',
  'v2.core.account_person.deleted',
  'v2.core.event_destination.ping',
] as const;
export const PING_TYPE = 'v2.core.event_destination.ping';

/** Receiver of a tenant's events. */
export interface EventDestination {
  readonly id: string;
  readonly tenant: Tenant;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly name: string;
  readonly description: string;
  /** Exact event types, or `*` for all. */
  readonly enabledEvents: readonly string[];
  readonly isEnabled: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  /** The URL, encrypted at rest. */
  readonly url: string;
  /** Key that signs deliveries; returned once, encrypted at rest. */
  readonly secret: string;
}

export function wantsEvent({ isEnabled, enabledEvents }: EventDestination, type: string): boolean {
  return isEnabled && (enabledEvents.includes('*') || enabledEvents.includes(type));
}

/** Returns an event destination as sent to clients. Source: accounts, section 17.3. */
export function destinationObject(
  destination: EventDestination,
  include: { readonly url: boolean; readonly secret: boolean },
): Record<string, unknown> {
  const { isEnabled, tenant } = destination;
  const shown = {
    ...(include.url && { url: destination.url }),
    ...(include.secret && { signing_secret: destination.secret }),
  };
  return {
    id: destination.id,
    object: 'v2.core.event_destination',
    created: timestamp(destination.createdMs),
    description: destination.description,
    enabled_events: destination.enabledEvents,
    event_payload: 'thin',
    events_from: ['@self'],
    livemode: tenant.livemode,
    metadata: destination.metadata,
    name: destination.name,
    status: isEnabled ? 'enabled' : 'disabled',
    ...(!isEnabled && { status_details: { disabled: { reason: 'user' } } }),
    type: 'webhook_endpoint',
    updated: timestamp(destination.updatedMs),
    ...(Object.keys(shown).length > 0 && { webhook_endpoint: shown }),
  };
}
