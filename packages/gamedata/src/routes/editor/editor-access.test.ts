// Source: gamedata, section 6.1.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import { gameDataError } from '../../errors.js';
import { EditorAccess, readEditorToken } from './editor-access.js';

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

const requestOf = (authorization: string | undefined, ip = '192.0.2.1') => ({
  ip,
  headers: { authorization },
});

it('lets in who has a token, with its scopes, and an admin with all', () => {
  const { access } = openAccess();
  const reader = requestOf('Bearer read-it');
  access.admit(reader, false);
  assert.equal(access.require(reader, 'read').name, 'reader');
  assert.throws(() => access.require(reader, 'write'), { kind: 'forbidden' });
  const writer = requestOf('bearer  write-it ');
  access.admit(writer, false);
  assert.equal(access.require(writer, 'write').name, 'writer');
  assert.throws(() => access.require(writer, 'publish'), { kind: 'forbidden' });
  const admin = requestOf('Bearer admin');
  access.admit(admin, false);
  for (const scope of ['read', 'write', 'publish', 'admin'] as const) {
    assert.equal(access.require(admin, scope).name, 'the admin');
  }
});

it('lets in nobody else, but where everybody may go', () => {
  const { access } = openAccess();
  for (const wrong of ['Bearer read', 'Basic read-it', 'read-it', 'Bearer read-it x', '']) {
    assert.throws(
      () => access.admit(requestOf(wrong, wrong), false),
      { kind: 'not_authenticated' },
      wrong,
    );
    const open = requestOf(wrong, wrong);
    access.admit(open, true);
    assert.equal(access.actorOf(open), undefined);
    assert.throws(() => access.require(open, 'read'), { kind: 'not_authenticated' });
  }
  assert.throws(() => access.admit(requestOf(undefined), false), { kind: 'not_authenticated' });
  const open = requestOf(undefined);
  access.admit(open, true);
  assert.throws(() => access.require(open, 'read'), { kind: 'not_authenticated' });
});

it('ends a token with its last day', async () => {
  const { access, clock } = openAccess();
  await clock.advanceMs(86_400_000 - 1);
  access.admit(requestOf('Bearer write-it'), false);
  await clock.advanceMs(1);
  assert.throws(() => access.admit(requestOf('Bearer write-it'), false), {
    kind: 'not_authenticated',
  });
  access.admit(requestOf('Bearer read-it'), false);
});

it('tells who guesses to wait, and nobody whose token is right or who brings none', async () => {
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
  assert.throws(() => access.admit(requestOf('Bearer x', '192.0.2.2'), false), {
    kind: 'not_authenticated',
  });
  await clock.advanceMs(60_000);
  assert.throws(() => access.admit(requestOf('Bearer x'), false), { kind: 'not_authenticated' });
});
