import { BASE62, invariant } from '@plinth/kernel';
import type { Tenant } from '../platform/tenant.js';
import { timestamp } from '../timestamps.js';

export type EventTarget =
  | { readonly kind: 'account'; readonly id: string; readonly section?: string }
  | { readonly kind: 'person'; readonly id: string; readonly accountId: string }
  | { readonly kind: 'destination'; readonly id: string };

/** One event as its commit wrote it; type and ids make the rest. */
export interface EventDraft {
  readonly type: string;
  readonly target: EventTarget;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly changes?: {
    readonly before: Readonly<Record<string, unknown>>;
    readonly after: Readonly<Record<string, unknown>>;
  };
}

/** All events of one commit: they share instant and reason. */
export interface EventBundle {
  /** Letters that the ids of its events begin with. */
  readonly id: string;
  readonly tenant: Tenant;
  readonly createdMs: number;
  /** Account that the events are about; the destination of a ping. */
  readonly subjectId: string;
  readonly personId: string | undefined;
  /** `undefined`: time or the operator was the reason. */
  readonly request: { readonly id: string; readonly idempotency_key: string } | undefined;
  readonly events: readonly EventDraft[];
}

/** Letters behind those of the bundle. */
const INDEX_LENGTH = 2;
export const BUNDLE_ID_LENGTH = 22;
const MAX_BUNDLE_SIZE = BASE62.length ** INDEX_LENGTH;

/** Ids of one bundle ascend in the order of its events. */
export function eventId(bundle: Pick<EventBundle, 'id' | 'tenant'>, index: number): string {
  invariant(
    index < MAX_BUNDLE_SIZE,
    'one request makes far fewer events than its letters can count',
  );
  const letters = BASE62.charAt(Math.floor(index / 62)) + BASE62.charAt(index % 62);
  return `${bundle.tenant.livemode ? 'evt_' : 'evt_test_'}${bundle.id}${letters}`;
}

/** @returns `undefined` for what is no id of an event in this mode. */
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

/** Source: accounts, section 17.2. */
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

/** What is delivered: the receiver fetches the rest. */
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
