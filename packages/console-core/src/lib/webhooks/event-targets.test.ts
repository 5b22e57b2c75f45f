// Source: spec/webhooks.md, section 8.3.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { knownEvents, whyNotReceived } from './event-targets.js';

const app = (events: readonly string[], more: object = {}, hook: object = {}) => ({
  suspended_at: null,
  hook: { active: true, events, config: { url: 'https://ci.example.com' }, ...hook },
  ...more,
});

it('decides which apps receive an event by their subscriptions', () => {
  const reason = (events: readonly string[], action = '') =>
    whyNotReceived(app(events), 'issues', action);
  for (const events of [['*'], ['issues'], ['push', 'issues.*']])
    assert.equal(reason(events), undefined, String(events));
  assert.equal(reason(['issues.opened'], 'opened'), undefined);
  assert.equal(reason(['issues.opened'], 'closed'), 'not subscribed to issues');
  assert.equal(reason(['issues.opened']), 'not subscribed to issues');
  assert.equal(whyNotReceived(app([]), 'installation', ''), undefined, 'sent to all apps');
});

it('names the reason of apps that receive nothing', () => {
  const reason = (more: object, hook: object = {}) =>
    whyNotReceived(app(['*'], more, hook), 'push', '');
  assert.equal(reason({ suspended_at: '2026-01-01T00:00:00Z' }), 'suspended');
  assert.equal(reason({ hook: null }), 'without a webhook');
  assert.equal(reason({}, { config: {} }), 'without a webhook');
  assert.equal(reason({}, { active: false }), 'not active');
});

it('lists the events of subscriptions before the others', () => {
  const events = knownEvents([app(['v2.core.account.*', 'push.x', '*']), app(['push'])]);
  assert.deepEqual(events.slice(0, 2), ['push', 'v2.core.account']);
  assert.ok(events.includes('pull_request'));
  assert.equal(new Set(events).size, events.length);
});
