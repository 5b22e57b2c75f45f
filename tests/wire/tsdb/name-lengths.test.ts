// Source: tsdb-http, "Distinct value cache", "Last value cache" and "Triggers".
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import {
  assertEmpty,
  assertError,
  type HttpResponse,
  SharedServer,
  write,
} from '../../harness/index.js';

const LONGEST = 'n'.repeat(255);

let server: SharedServer;
before(async () => {
  server = await SharedServer.get();
  assertEmpty(await write(server, { db: 'lengths' }, 't,tag=a f=1 1'));
});
after(() => server.close());

const create = (what: string, body: object): Promise<HttpResponse> =>
  server.http.send(`/api/v3/configure/${what}`, {
    body: JSON.stringify({ db: 'lengths', ...body }),
    headers: { 'content-type': 'application/json' },
  });

for (const [what, how] of [
  ['last_cache', {}],
  ['distinct_cache', { columns: ['tag'] }],
] as const) {
  it(`a name of a ${what} of more than 255 characters is refused`, async () => {
    const made = (name: string) => create(what, { table: 't', name, ...how });
    assertError(
      await made(`${LONGEST}n`),
      400,
      'invalid configuration provided: the name has more than 255 characters',
    );
    assert.equal((await made(LONGEST)).status, 201);
  });
}

it('a name of a trigger of more than 255 characters is refused', async () => {
  const made = (trigger_name: string) =>
    create('processing_engine_trigger', {
      trigger_name,
      plugin_filename: 'none.py',
      trigger_specification: 'all_tables',
    });
  const words = 'trigger name cannot have more than 255 characters';
  assertError(await made(`${LONGEST}n`), 400, words, { field: 'trigger_name' });
  // The server has no plugin folder, so this request fails too.
  assert.ok(!(await made(LONGEST)).text.includes(words));
});
