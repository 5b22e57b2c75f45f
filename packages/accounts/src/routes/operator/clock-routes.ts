import type { Route } from '@plinth/kernel';
import type { TestClocks } from '../../domain/platform/test-clocks.js';
import { invalidFields } from '../../domain/refusals.js';
import { readFormOrJson } from '../bodies.js';
import { pageQuery } from '../description.js';
import { listRequest } from '../lists.js';
import type { Call, CallDocs, PlatformRoutes } from '../platform-routes.js';
import { QueryString } from '../query-string.js';
import type { RequestShapes } from '../request-shapes.js';

const PATH = '/v1/test_helpers/test_clocks';

const LIST: CallDocs = { summary: 'List test clocks', response: 'Page', query: pageQuery() };
const CREATE: CallDocs = {
  summary: 'Create a test clock',
  response: 'TestClock',
  body: 'test_clock',
};
const SHOW: CallDocs = { summary: 'Retrieve a test clock', response: 'TestClock' };
const ADVANCE: CallDocs = {
  summary: 'Advance a test clock',
  response: 'TestClock',
  body: 'test_clock_advance',
};
const DELETE: CallDocs = {
  summary: 'Delete a test clock and close its accounts',
  response: 'Deleted',
};

/** Returns the routes for test clocks. Source: accounts, sections 7 (E16) and 18. */
export function clockRoutes(
  routes: PlatformRoutes,
  { clocks, shapes }: { readonly clocks: TestClocks; readonly shapes: RequestShapes },
): readonly Route[] {
  return [
    routes.change('POST', PATH, CREATE, async (call) => {
      const body = readBody(call);
      const fields = shapes.check<{ frozen_time: number; name?: string | null }>(
        'test_clock',
        body,
      );
      const name = fields.name || null;
      return await clocks.create(call.context, { body, frozenTime: fields.frozen_time, name });
    }),
    routes.get(PATH, LIST, async (call) => {
      const query = new QueryString(call.request.url);
      const request = listRequest(call, query, []);
      query.refuseUnknown();
      return await clocks.list(call.context, request);
    }),
    routes.get(`${PATH}/:clock`, SHOW, async (call) => {
      return await clocks.retrieve(call.context, call.param('clock'));
    }),
    routes.change('POST', `${PATH}/:clock/advance`, ADVANCE, async (call) => {
      const body = readBody(call);
      const { frozen_time: frozenTime } = shapes.check<{ frozen_time: number }>(
        'test_clock_advance',
        body,
      );
      return await clocks.advance(call.context, call.param('clock'), { body, frozenTime });
    }),
    routes.change('DELETE', `${PATH}/:clock`, DELETE, async (call) => {
      return await clocks.delete(call.context, call.param('clock'));
    }),
  ];
}

/** Numbers in a form arrive as strings. */
function readBody({ request }: Call): Record<string, unknown> {
  const body = readFormOrJson(request);
  const { frozen_time } = body as { frozen_time?: unknown };
  if (typeof frozen_time !== 'string') return body;
  if (/^-?\d{1,15}$/.test(frozen_time)) return { ...body, frozen_time: Number(frozen_time) };
  const field = 'frozen_time';
  throw invalidFields([{ field, code: 'wrong_type', message: `${field} must be an integer.` }]);
}
