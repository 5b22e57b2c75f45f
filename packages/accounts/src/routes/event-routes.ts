import type { Route } from '@plinth/kernel';
import { Type } from 'typebox';
import type { DestinationFields, EventDestinations } from '../domain/events/event-destinations.js';
import type { Events } from '../domain/events/events.js';
import { parseTimestamp } from '../model/timestamps.js';
import { readJson } from './bodies.js';
import { pageQuery, texts } from './description.js';
import { listRequest } from './lists.js';
import type { Call, CallDocs, PlatformRoutes } from './platform-routes.js';
import { QueryString } from './query-string.js';
import type { RequestShapes } from './request-shapes.js';

/** The secret is returned once, by the request that creates the destination. */
const INCLUDES = ['webhook_endpoint.url'];
const MAX_TYPE_COUNT = 20;
/** Milliseconds added to each bound to make it inclusive. */
const BOUNDS = { gt: 1, gte: 0, lt: -1, lte: 0 } as const;

const text = Type.Optional(Type.String());
const LIST_EVENTS: CallDocs = {
  summary: 'List events',
  response: 'Page',
  query: pageQuery({
    object_id: text,
    types: texts(),
    ...Object.fromEntries(Object.keys(BOUNDS).map((bound) => [`created[${bound}]`, text])),
  }),
};
const SHOW_EVENT: CallDocs = { summary: 'Retrieve an event', response: 'Event' };

const INCLUDE = { include: texts(INCLUDES) };
const LIST: CallDocs = {
  summary: 'List event destinations',
  response: 'Page',
  query: pageQuery(INCLUDE),
};
const CREATE: CallDocs = {
  summary: 'Create an event destination',
  response: 'EventDestination',
  body: 'destination_create',
};
const SHOW: CallDocs = {
  summary: 'Retrieve an event destination',
  response: 'EventDestination',
  query: INCLUDE,
};
const UPDATE: CallDocs = {
  summary: 'Update an event destination',
  response: 'EventDestination',
  body: 'destination_update',
};
const DELETE: CallDocs = { summary: 'Delete an event destination', response: 'Deleted' };
const ENABLE: CallDocs = {
  summary: 'Enable an event destination',
  response: 'EventDestination',
  body: 'empty',
};
const DISABLE: CallDocs = { ...ENABLE, summary: 'Disable an event destination' };
const PING: CallDocs = { summary: 'Send a ping event', response: 'Event', body: 'empty' };

/**
 * Returns the routes for events and event destinations. Source: accounts, sections 7 (E15) and 17.
 */
export function eventRoutes(
  routes: PlatformRoutes,
  deps: {
    readonly events: Events;
    readonly destinations: EventDestinations;
    readonly shapes: RequestShapes;
  },
): readonly Route[] {
  const { events, destinations, shapes } = deps;
  return [
    routes.get('/v2/core/events', LIST_EVENTS, async (call) => await listEvents(call, events)),
    routes.get('/v2/core/events/:event', SHOW_EVENT, async (call) => {
      new QueryString(call.request.url).refuseUnknown();
      return await events.retrieve(call.context, call.param('event'));
    }),
    ...destinationRoutes(routes, destinations, shapes),
  ];
}

async function listEvents(call: Call, events: Events): Promise<string> {
  const query = new QueryString(call.request.url);
  const objectId = query.text('object_id');
  const types = query.list('types');
  if (types.length > MAX_TYPE_COUNT) {
    query.problem('types', 'too_long', `types has more than ${MAX_TYPE_COUNT} entries.`);
  }
  const created = query.members('created', Object.keys(BOUNDS));
  const { fromMs, toMs } = readBounds(query, created);
  const request = listRequest(call, query, [
    ...(objectId === undefined ? [] : [['object_id', objectId] as const]),
    ...types.map((type, index) => [`types[${index}]`, type] as const),
    ...[...created].map(([bound, value]) => [`created[${bound}]`, value] as const),
  ]);
  query.refuseUnknown();
  return await events.list(call.context, request, { objectId, types, fromMs, toMs });
}

function readBounds(
  query: QueryString,
  created: ReadonlyMap<string, string>,
): { readonly fromMs: number; readonly toMs: number } {
  let fromMs = 0;
  let toMs = Number.MAX_SAFE_INTEGER;
  for (const [bound, text] of created) {
    const ms = parseTimestamp(text);
    if (ms === undefined) {
      query.problem(
        `created.${bound}`,
        'bad_format',
        `created.${bound} is not a valid timestamp; use one such as 2026-01-31T00:00:00Z.`,
      );
      continue;
    }
    const inclusive = ms + BOUNDS[bound as keyof typeof BOUNDS]; // `members` lists only these keys
    if (bound.startsWith('g')) fromMs = Math.max(fromMs, inclusive);
    else toMs = Math.min(toMs, inclusive);
  }
  return { fromMs, toMs };
}

function destinationRoutes(
  routes: PlatformRoutes,
  destinations: EventDestinations,
  shapes: RequestShapes,
): readonly Route[] {
  const path = '/v2/core/event_destinations';
  const id = ({ param }: Call): string => param('destination');
  const write = (call: Call, shape: 'destination_create' | 'destination_update') => {
    new QueryString(call.request.url).refuseUnknown();
    const body = readJson(call.request);
    const { include = [], ...requestFields } = shapes.check<
      DestinationFields & { readonly include?: readonly string[] }
    >(shape, body);
    return { body, requestFields, include };
  };
  return [
    routes.change('POST', path, CREATE, async (call) => {
      return await destinations.create(call.context, write(call, 'destination_create'));
    }),
    routes.get(path, LIST, async (call) => {
      const query = new QueryString(call.request.url);
      const include = query.list('include', INCLUDES);
      const filters = include.map((name, index) => [`include[${index}]`, name] as const);
      const request = listRequest(call, query, filters);
      query.refuseUnknown();
      return destinations.list(call.context, request, include);
    }),
    routes.get(`${path}/:destination`, SHOW, async (call) => {
      const query = new QueryString(call.request.url);
      const include = query.list('include', INCLUDES);
      query.refuseUnknown();
      return destinations.retrieve(call.context, id(call), include);
    }),
    routes.change('POST', `${path}/:destination`, UPDATE, async (call) => {
      return await destinations.update(call.context, id(call), write(call, 'destination_update'));
    }),
    routes.change('DELETE', `${path}/:destination`, DELETE, async (call) => {
      return await destinations.delete(call.context, id(call));
    }),
    routes.change('POST', `${path}/:destination/enable`, ENABLE, async (call) => {
      return await destinations.setEnabled(call.context, id(call), true, empty(call, shapes));
    }),
    routes.change('POST', `${path}/:destination/disable`, DISABLE, async (call) => {
      return await destinations.setEnabled(call.context, id(call), false, empty(call, shapes));
    }),
    routes.change('POST', `${path}/:destination/ping`, PING, async (call) => {
      return await destinations.ping(call.context, id(call), empty(call, shapes));
    }),
  ];
}

function empty(call: Call, shapes: RequestShapes): unknown {
  const body = readJson(call.request);
  shapes.check('empty', body);
  return body;
}
