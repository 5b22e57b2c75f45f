// Source: webhooks, section 9.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { unmaskHeaders, unmaskUrl } from './hook.js';

it('restores masked parts of a URL, but only for the same host', () => {
  const stored = 'https://us%40er:p@a.example/x?key=q&bare&key=second';
  for (const [sent, expected] of [
    ['https://***:***@a.example/x?key=***&***&key=***', stored],
    ['https://***:***@a.example/new?key=q', 'https://us%40er:p@a.example/new?key=q'],
    ['https://a.example/x?key=***&key=new', 'https://a.example/x?key=q&key=new'],
    ['https://u:***@a.example/', 'https://u:***@a.example/'],
    ['https://b.example/', 'https://b.example/'],
    ['https://***:***@b.example/', undefined],
    ['https://b.example/?key=***', undefined],
    ['http://a.example/?key=***', undefined],
    ['https://a.example:444/?key=***', undefined],
    ['https://a.example/?other=***', undefined],
    ['https://a.example/?key=***&key=***&key=***', undefined],
  ] as const) {
    assert.equal(unmaskUrl(sent, stored), expected, sent);
  }
  // A URL without credentials has none that a mask could replace.
  for (const bare of ['', 'https://a.example/']) {
    assert.equal(unmaskUrl('https://***:***@a.example/', bare), undefined);
  }
});

it('restores masked headers by their names', () => {
  const stored = { A: 'a', B: 'b' };
  const sent = { A: '********', B: 'new', C: 'c' };
  assert.deepEqual(unmaskHeaders(sent, stored), { headers: { A: 'a', B: 'new', C: 'c' } });
  for (const unknown of ['C', 'a', 'toString']) {
    assert.deepEqual(unmaskHeaders({ [unknown]: '********' }, stored), { unknown });
  }
});
