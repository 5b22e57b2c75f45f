// Source: gamedata, section 6.1.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import { gameDataError } from '../../errors.js';
import { TestGameData } from '../../testing/test-game-data.js';
import {
  ALL_SCOPES,
  EditorAccess,
  readEditorToken,
  requireScope,
  type Scope,
} from './editor-access.js';

const DAY = Date.UTC(2030, 0, 2);
const hex = (text: string): string => createHash('sha256').update(text).digest('hex');

function openAccess(): { readonly access: EditorAccess; readonly clock: ManualClock } {
  const clock = new ManualClock(DAY);
  const access = new EditorAccess({
    tokens: [
      readEditorToken(`reader:${hex('read-it')}:read`),
      readEditorToken(`writer:${hex('write-it')}:read+write:2030-01-02`),
    ],
    clock,
    findAdmin: (token) => (token === 'admin' ? { name: 'the admin' } : undefined),
  });
  return { access, clock };
}

const requestOf = (authorization: string | undefined, key = 'ip:192.0.2.1') => ({
  client: { key },
  headers: { authorization },
});

it('admits editor tokens with their scopes, and admin tokens with all scopes', () => {
  const { access } = openAccess();
  const check = (authorization: string, expected: string, may: Scope, mayNot?: Scope) => {
    const { name, scopes } = access.admit(requestOf(authorization), false) ?? assert.fail();
    assert.equal(name, expected);
    requireScope(scopes, may);
    if (mayNot) assert.throws(() => requireScope(scopes, mayNot), { kind: 'forbidden' });
  };
  check('Bearer read-it', 'reader', 'read', 'write');
  check('bearer  write-it ', 'writer', 'write', 'publish');
  for (const scope of ALL_SCOPES) check('Bearer admin', 'the admin', scope);
});

it('rejects all other requests, except on open routes', () => {
  const { access } = openAccess();
  for (const wrong of ['Bearer read', 'Basic read-it', 'read-it', 'Bearer read-it x', '']) {
    assert.throws(
      () => access.admit(requestOf(wrong, wrong), false),
      { kind: 'not_authenticated' },
      wrong,
    );
    assert.equal(access.admit(requestOf(wrong, wrong), true), undefined);
  }
  assert.throws(() => access.admit(requestOf(undefined), false), { kind: 'not_authenticated' });
  assert.equal(access.admit(requestOf(undefined), true), undefined);
});

it('rejects a token after its last day', async () => {
  const { access, clock } = openAccess();
  await clock.advanceMs(86_400_000 - 1);
  access.admit(requestOf('Bearer write-it'), false);
  await clock.advanceMs(1);
  assert.throws(() => access.admit(requestOf('Bearer write-it'), false), {
    kind: 'not_authenticated',
  });
  access.admit(requestOf('Bearer read-it'), false);
});

it('limits guesses, but not valid tokens or requests without a token', async () => {
  const { access, clock } = openAccess();
  for (let guess = 1; guess <= 10; guess++) {
    assert.throws(() => access.admit(requestOf(`Bearer ${guess}`), false), {
      kind: 'not_authenticated',
    });
  }
  for (const isOpen of [false, true]) {
    assert.throws(
      () => access.admit(requestOf('Bearer x'), isOpen),
      (error: Error) => {
        assert.ok(gameDataError.is(error, 'rate_limited'));
        assert.equal(error.details.retryAfterSec, 60);
        return true;
      },
    );
  }
  access.admit(requestOf('Bearer read-it'), false);
  access.admit(requestOf(undefined), true);
  assert.throws(() => access.admit(requestOf(undefined), false), { kind: 'not_authenticated' });
  assert.throws(() => access.admit(requestOf('Bearer x', 'ip:192.0.2.2'), false), {
    kind: 'not_authenticated',
  });
  await clock.advanceMs(60_000);
  assert.throws(() => access.admit(requestOf('Bearer x'), false), { kind: 'not_authenticated' });
});

/** One call per route, with the scope it requires. */
const CALLS: readonly (readonly [scope: Scope, method: string, path: string])[] = [
  ['read', 'GET', 'items'],
  ['read', 'GET', 'history'],
  ['read', 'GET', 'validate'],
  ['read', 'GET', 'versions'],
  ['read', 'GET', 'export'],
  ['write', 'POST', 'items'],
  ['write', 'PUT', 'items/nobody'],
  ['write', 'PATCH', 'items/nobody'],
  ['write', 'DELETE', 'items/nobody'],
  ['write', 'POST', 'undo'],
  ['write', 'POST', 'discard'],
  ['publish', 'POST', 'save'],
  ['admin', 'POST', 'versions/1/restore'],
  ['admin', 'POST', 'import'],
];
const SCOPES: readonly Scope[] = ['read', 'write', 'publish', 'admin'];

it('allows a token only what its scopes permit', async () => {
  const tokens = SCOPES.map((scope) => `${scope}:${hex(`token-${scope}`)}:${scope}`).join(',');
  await using service = await TestGameData.start({ 'gamedata-tokens': tokens });
  for (const [needed, method, path] of CALLS) {
    for (const scope of SCOPES) {
      const authorization = `Bearer token-${scope}`;
      const { status, json } = await service.edit(method, path, undefined, { authorization });
      const isRefused = status === 403 && json['code'] === 'forbidden';
      assert.equal(isRefused, scope !== needed, `${method} ${path} with ${scope}: ${status}`);
    }
  }
});
