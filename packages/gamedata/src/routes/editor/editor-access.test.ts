// Source: gamedata, section 6.1.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import type { FastifyRequest } from 'fastify';
import { Forbidden, TooManyFailures, Unauthorized } from '../../errors.js';
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
    findAdmin: (authorization) =>
      authorization === 'Bearer admin' ? { name: 'the admin' } : undefined,
  });
  return { access, clock };
}

function requestOf(
  authorization: string | undefined,
  at: { readonly isOpen?: boolean; readonly ip?: string } = {},
): FastifyRequest {
  const { isOpen = false, ip = '192.0.2.1' } = at;
  const config = { access: isOpen ? 'public' : 'editor' };
  // Only what is asked of one.
  return { ip, headers: { authorization }, routeOptions: { config } } as unknown as FastifyRequest;
}

it('lets in who has a token, with its scopes, and an admin with all', () => {
  const { access } = openAccess();
  const reader = requestOf('Bearer read-it');
  access.admit(reader);
  assert.equal(access.require(reader, 'read').name, 'reader');
  assert.throws(() => access.require(reader, 'write'), Forbidden);
  const writer = requestOf('bearer  write-it ');
  access.admit(writer);
  assert.equal(access.require(writer, 'write').name, 'writer');
  assert.throws(() => access.require(writer, 'publish'), Forbidden);
  const admin = requestOf('Bearer admin');
  access.admit(admin);
  for (const scope of ['read', 'write', 'publish', 'admin'] as const) {
    assert.equal(access.require(admin, scope).name, 'the admin');
  }
});

it('lets in nobody else, but where everybody may go', () => {
  const { access } = openAccess();
  for (const wrong of ['Bearer read', 'Basic read-it', 'read-it', 'Bearer read-it x', '']) {
    assert.throws(() => access.admit(requestOf(wrong, { ip: wrong })), Unauthorized, wrong);
    const open = requestOf(wrong, { isOpen: true, ip: wrong });
    access.admit(open);
    assert.equal(access.actorOf(open), undefined);
    assert.throws(() => access.require(open, 'read'), Unauthorized);
  }
  assert.throws(() => access.admit(requestOf(undefined)), Unauthorized);
  const open = requestOf(undefined, { isOpen: true });
  access.admit(open);
  assert.throws(() => access.require(open, 'read'), Unauthorized);
});

it('ends a token with its last day', async () => {
  const { access, clock } = openAccess();
  await clock.advanceMs(86_400_000 - 1);
  access.admit(requestOf('Bearer write-it'));
  await clock.advanceMs(1);
  assert.throws(() => access.admit(requestOf('Bearer write-it')), Unauthorized);
  access.admit(requestOf('Bearer read-it'));
});

it('tells who guesses to wait, and nobody whose token is right or who brings none', async () => {
  const { access, clock } = openAccess();
  for (let guess = 1; guess <= 10; guess++) {
    assert.throws(() => access.admit(requestOf(`Bearer ${guess}`)), Unauthorized);
  }
  for (const isOpen of [false, true]) {
    assert.throws(
      () => access.admit(requestOf('Bearer x', { isOpen })),
      (error: Error) => {
        assert.ok(error instanceof TooManyFailures);
        assert.equal(error.retryAfterSec, 60);
        return true;
      },
    );
  }
  access.admit(requestOf('Bearer read-it'));
  access.admit(requestOf(undefined, { isOpen: true }));
  assert.throws(() => access.admit(requestOf(undefined)), Unauthorized);
  assert.throws(() => access.admit(requestOf('Bearer x', { ip: '192.0.2.2' })), Unauthorized);
  await clock.advanceMs(60_000);
  assert.throws(() => access.admit(requestOf('Bearer x')), Unauthorized);
});
