import { BASE62, invariant } from '@plinth/kernel';
import type { Tenant } from '../platform/tenant.js';
import { timestamp } from '../timestamps.js';

export type EventTarget =
  | { readonly kind: 'account'; readonly id: string; readonly section?: string }
  | { readonly kind: 'person'; readonly id: string; readonly accountId: string }
  | { readonly kind: 'destination'; readonly id: string };

/** One event as stored by its commit; other members are derived from type and ids. */
export interface EventDraft {
  readonly type: string;
  readonly target: EventTarget;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly changes?: {
    readonly before: Readonly<Record<string, unknown>>;
    readonly after: Readonly<Record<string, unknown>>;
  };
}

/** All events of one commit. They share timestamp and reason. */
export interface EventBundle {
  /** Common prefix of the event ids. */
  readonly id: string;
  readonly tenant: Tenant;
  readonly createdMs: number;
  /** Account of the events; for a ping, the destination. */
  readonly subjectId: string;
  readonly personId: string | undefined;
  /** `undefined` if the passage of time or the operator caused the events. */
  readonly request: { readonly id: string; readonly idempotency_key: string } | undefined;
  readonly events: readonly EventDraft[];
}

/** Number of characters after the bundle's prefix. */
const INDEX_LENGTH = 2;
export const BUNDLE_ID_LENGTH = 22;
const MAX_BUNDLE_SIZE = BASE62.length ** INDEX_LENGTH;

/** Returns the id of an event in a bundle. Ids of one bundle ascend in event order. */
export function eventId(bundle: Pick<EventBundle, 'id' | 'tenant'>, index: number): string {
  invariant(index < MAX_BUNDLE_SIZE, 'too many events for the id suffix of one bundle');
  const letters = BASE62.charAt(Math.floor(index / 62)) + BASE62.charAt(index % 62);
  return `${bundle.tenant.livemode ? 'evt_' : 'evt_test_'}${bundle.id}${letters}`;
}

/** @returns `undefined` if the id is not an event id of this mode. */
export function readEventId(
  id: string,
  livemode: boolean,
): { readonly bundleId: string; readonly index: number } | undefined {
  const [, mode, letters = ''] = /^evt_(test_)?([0-9A-Za-z]{24,})$/.exec(id) ?? [];
  if (letters === '' || (mode === undefined) !== livemode) return undefined;
  const bundleId = letters.slice(0, -INDEX_LENGTH);
  const high = BASE62.indexOf(letters.at(-2) ?? '');
  return { bundleId, index: high * 62 + BASE62.indexOf(letters.at(-1) ?? '') };
}

/** Returns an event as sent to clients. Source: accounts, section 17.2. */
export function eventObject(
  bundle: EventBundle,
  index: number,
): Record<string, unknown> | undefined {
  const event = bundle.events[index];
  if (event === undefined) return undefined;
  return {
    ...thinEvent(bundle, index, event),
    ...(event.data && { data: event.data }),
    ...(event.changes && { changes: event.changes }),
  };
}

/** Returns an event as delivered; the receiver fetches the other members. */
export function thinEvent(
  bundle: EventBundle,
  index: number,
  event: EventDraft,
): Record<string, unknown> {
  return {
    id: eventId(bundle, index),
    object: 'v2.core.event',
    type: event.type,
    created: timestamp(bundle.createdMs),
    livemode: bundle.tenant.livemode,
    context: null,
    reason: bundle.request ? { type: 'request', request: bundle.request } : null,
    related_object: relatedObject(event.target),
  };
}

function relatedObject(target: EventTarget): Record<string, string> {
  switch (target.kind) {
    case 'account': {
      const include = target.section === undefined ? '' : `?include=${target.section}`;
      const url = `/v2/core/accounts/${target.id}${include}`;
      return { id: target.id, type: 'v2.core.account', url };
    }
    case 'person': {
      const url = `/v2/core/accounts/${target.accountId}/persons/${target.id}`;
      return { id: target.id, type: 'v2.core.account_person', url };
    }
    case 'destination': {
      const url = `/v2/core/event_destinations/${target.id}`;
      return { id: target.id, type: 'v2.core.event_destination', url };
    }
  }
}
