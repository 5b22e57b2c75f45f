import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DataSet } from '../data/data-set.js';
import { Catalog } from './catalog.js';
import type { ListRequest } from './list-request.js';

const REQUEST: ListRequest = {
  ...{ kind: 'items', limit: 1, offset: 0, search: undefined, query: undefined, sort: [] },
  ...{ fields: undefined, includes: { relations: [], param: 'include' }, ids: undefined },
  ...{ language: undefined, version: undefined, isPage: true, isFullTextWanted: false },
  ...{ filters: { predicates: [], provided: [] }, canonical: [], ignored: [] },
};

it('runs a thousand queries at once, rejects the next, and accepts more afterwards', async () => {
  const catalog = new Catalog(() => null);
  const set = DataSet.empty();
  const ask = async (): Promise<string> =>
    await catalog.list(set, REQUEST).then(
      ({ total }) => `total ${total}`,
      (error: Error) => `${error.name}: ${error.message}`,
    );
  const responses = await Promise.all(Array.from({ length: 1001 }, ask));
  assert.deepEqual(responses.slice(0, 1000), Array(1000).fill('total 0'));
  assert.equal(responses[1000], 'ServerBusy: too many searches are queued; try again');
  assert.equal(await ask(), 'total 0');
  await catalog.close();
});
