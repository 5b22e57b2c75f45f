// Source: spec/rate-limits.md, sections 2 and 8.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { limitSteps, requestsLeft } from './limit-steps.js';

const SECONDARY = {
  ...{ concurrency: 3, cpu_ms: 41_400, content_minute: 2, content_hour: 9, heavy: 0 },
  points: [{ endpoint: '/app/hook/config', points: 870 }],
};
const ROUTE = {
  ...{ endpoint: '/app/hook/config', resource: 'core', cost: 1 },
  ...{ points: 5, content: false, heavy: 0 },
};
const HEADERS = { 'x-ratelimit-limit': '60', 'x-ratelimit-used': '44' };
const MAXIMA: Readonly<Record<string, number>> = {
  ...{ concurrency: 100, points_rest: 900, cpu_seconds: 90 },
  ...{ content_minute: 80, content_hour: 500, heavy: 100 },
};
const steps = (kind: string | null, route = {}, before = 0) =>
  limitSteps(
    { ...ROUTE, ...route },
    {
      usage: { secondary: SECONDARY, ban: null },
      decision: { limit_kind: kind, headers: HEADERS },
      before,
      maximumOf: (name) => MAXIMA[name],
    },
  );
const told = (kind: string | null, route = {}, before = 0): readonly string[] =>
  steps(kind, route, before).map(
    ({ kind: name, used, limit, result }) => `${name} ${used ?? '-'}/${limit ?? '-'} ${result}`,
  );

it('lists the limits of a route with what is used of them', () => {
  assert.deepEqual(told(null), [
    'ban -/- passed',
    'primary 44/60 passed',
    'concurrency 3/100 passed',
    'points_rest 870/900 passed',
    'cpu 41/90 passed',
  ]);
  assert.deepEqual(told(null, { points: 0 }), [
    'ban -/- passed',
    'primary 44/60 passed',
    'concurrency 3/100 passed',
  ]);
  const kinds = steps(null, { content: true, heavy: 4 }).map(({ kind }) => kind);
  assert.deepEqual(kinds.slice(-3), ['content_minute', 'content_hour', 'heavy']);
});

it('stops at the exceeded limit', () => {
  assert.deepEqual(told('primary'), [
    'ban -/- passed',
    'primary 44/60 rejected',
    'concurrency 3/100 not checked',
    'points_rest 870/900 not checked',
    'cpu 41/90 not checked',
  ]);
});

it('adds the earlier requests of a simulation, except to the concurrent requests', () => {
  // The server adds them to the header.
  assert.deepEqual(told('points_rest', {}, 6), [
    'ban -/- passed',
    'primary 44/60 passed',
    'concurrency 3/100 passed',
    'points_rest 900/900 rejected',
    'cpu 41/90 not checked',
  ]);
});

it('counts the requests that remain by the tightest limit', () => {
  assert.equal(requestsLeft(steps(null)), 6);
  assert.equal(requestsLeft(steps(null, { points: 0 })), 16);
  assert.equal(requestsLeft(steps(null, { points: 0, cost: 0 })), undefined);
});
