import type { Clock } from '@plinth/kernel';
import { type EventBundle, eventId, eventObject, readEventId } from '../../model/events/event.js';
import type { VendorWord } from '../../model/platform/vendor-word.js';
import type { EventStore } from '../../storage/event-store.js';
import { type ListRequest, readPage, toPage } from '../account/account-pages.js';
import { notFound } from '../refusals.js';
import type { RequestContext } from '../request-context.js';

export interface EventFilter {
  readonly objectId: string | undefined;
  /** Event types to return; empty for all. */
  readonly types: readonly string[];
  /** Bounds of the creation time, both inclusive. */
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Number of bundles per read when filtering for rare events, and maximum number of reads per page.
 */
const BATCH_SIZE = 100;
const MAX_BATCH_COUNT = 50;

interface Listed {
  readonly id: string;
  readonly createdMs: number;
  readonly bundle: EventBundle;
  readonly index: number;
}

interface EventsDeps {
  readonly clock: Clock;
  readonly store: EventStore;
  readonly vendorWord: VendorWord;
  readonly retentionMs: number;
}

/** Lists and retrieves events. Source: accounts, section 17.2. */
export class Events {
  readonly #deps: EventsDeps;

  constructor(deps: EventsDeps) {
    this.#deps = deps;
  }

  async retrieve(context: RequestContext, id: string): Promise<string> {
    const read = readEventId(id, context.tenant.livemode);
    const bundle = read && (await this.#deps.store.find(context.tenant, read.bundleId));
    const isKept = bundle !== undefined && bundle.createdMs >= this.#oldestMs();
    const event = isKept ? eventObject(bundle, read?.index ?? -1) : undefined;
    if (event === undefined) throw notFound('event', id);
    return JSON.stringify(this.#shown(event));
  }

  /**
   * Returns a page of events. It may be short if matching events are rare; its link continues from
   * there.
   */
  async list(context: RequestContext, request: ListRequest, filter: EventFilter): Promise<string> {
    const query = readPage(request);
    const found = await this.#collect(context, filter, query);
    const { items, next_page_url, previous_page_url } = toPage(request, query, found);
    const data = items.map(({ bundle, index }) => this.#shown(eventObject(bundle, index) ?? {}));
    return JSON.stringify({ data, next_page_url, previous_page_url });
  }

  async #collect(
    { tenant }: RequestContext,
    filter: EventFilter,
    { cursor, limit }: ReturnType<typeof readPage>,
  ): Promise<readonly Listed[]> {
    const isOlder = cursor?.direction !== 'previous';
    const found: Listed[] = [];
    const read = cursor && readEventId(cursor.id, tenant.livemode);
    let from =
      cursor && read ? { createdMs: cursor.createdMs, bundleId: read.bundleId } : undefined;
    const isPerson = filter.objectId?.startsWith('person_') === true;
    for (let batch = 0; batch < MAX_BATCH_COUNT && found.length <= limit; batch++) {
      const bundles = await this.#deps.store.list(tenant, {
        subjectId: isPerson ? undefined : filter.objectId,
        personId: isPerson ? filter.objectId : undefined,
        fromMs: Math.max(filter.fromMs, this.#oldestMs()),
        toMs: filter.toMs,
        direction: isOlder ? 'older' : 'newer',
        from,
        limit: BATCH_SIZE,
      });
      for (const bundle of bundles)
        found.push(...listedOf(bundle, filter, isOlder, cursor?.id, found));
      const last = bundles.at(-1);
      if (last === undefined || bundles.length < BATCH_SIZE) break;
      from = { createdMs: last.createdMs, bundleId: last.id };
    }
    const cut = found.slice(0, limit + 1);
    return isOlder ? cut : cut.reverse();
  }

  /** Replaces the vendor name in capability names; text from clients is unchanged. */
  #shown(event: Record<string, unknown>): Record<string, unknown> {
    const { data } = event as { data?: unknown };
    return data === undefined ? event : { ...event, data: this.#deps.vendorWord.allToWire(data) };
  }

  #oldestMs(): number {
    return this.#deps.clock.nowMs() - this.#deps.retentionMs;
  }
}

/**
 * Returns the events of a bundle in reading direction; the last event of a commit is the newest.
 */
function listedOf(
  bundle: EventBundle,
  { types, objectId }: EventFilter,
  isOlder: boolean,
  cursorId: string | undefined,
  before: readonly Listed[],
): Listed[] {
  // The last bundle of a batch is read again as the first of the next.
  if (before.at(-1)?.bundle.id === bundle.id) return [];
  const listed = bundle.events.flatMap(({ type, target }, index): Listed[] => {
    if (types.length > 0 && !types.includes(type)) return [];
    if (objectId !== undefined && target.id !== objectId) return [];
    const id = eventId(bundle, index);
    const isBehind = cursorId === undefined || (isOlder ? id < cursorId : id > cursorId);
    const isCursorBundle = cursorId?.includes(bundle.id) === true;
    if (isCursorBundle && !isBehind) return [];
    return [{ id, createdMs: bundle.createdMs, bundle, index }];
  });
  return isOlder ? listed.reverse() : listed;
}
