import assert from 'node:assert/strict';
import { it } from 'node:test';
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { reload, takeState } from './query-state.js';

const queryKey = ['state'];

/** A query whose fetches end when the test resolves them. */
function observed() {
  const client = new QueryClient();
  const fetches: ((state: string) => void)[] = [];
  const observer = new QueryObserver<string>(client, {
    queryKey,
    queryFn: () => new Promise<string>((resolve) => fetches.push(resolve)),
  });
  const unsubscribe = observer.subscribe(() => undefined);
  return { client, fetches, state: () => client.getQueryData<string>(queryKey), unsubscribe };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('fetches again while the first fetch is in progress, and ignores its result', async () => {
  const { client, fetches, state, unsubscribe } = observed();
  const reloaded = reload(client, { queryKey });
  await settled();
  assert.equal(fetches.length, 2);
  fetches[0]?.('older');
  await settled();
  assert.equal(state(), undefined);
  fetches[1]?.('newer');
  await reloaded;
  assert.equal(state(), 'newer');
  unsubscribe();
  client.clear();
});

it('keeps a state that arrived during a fetch', async () => {
  const { client, fetches, state, unsubscribe } = observed();
  await takeState(client, queryKey, 'event');
  fetches[0]?.('older');
  await settled();
  assert.equal(state(), 'event');
  unsubscribe();
  client.clear();
});
