// Source: gamedata, section 6.1.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import type { FastifyRequest } from 'fastify';
import { EditorAccess } from './editor-access.js';

/** What comes of a wrong token from the address. */
function guesser(): (ip: string) => string {
  const access = new EditorAccess({
    tokens: [],
    clock: new ManualClock(0),
    findAdmin: () => undefined,
  });
  return (ip) => {
    // All that is looked at.
    const request = { ip, headers: { authorization: 'Bearer wrong' } } as FastifyRequest;
    try {
      access.admit(request);
    } catch (error) {
      return (error as Error).name;
    }
    return 'admitted';
  };
}

it('keeps refusing an address, however many others guess', () => {
  const guess = guesser();
  for (let count = 0; count < 10; count += 1) assert.equal(guess('192.0.2.1'), 'Unauthorized');
  assert.equal(guess('192.0.2.1'), 'TooManyFailures');
  for (let index = 0; index < 20_000; index += 1) {
    guess(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
  }
  assert.equal(guess('192.0.2.1'), 'TooManyFailures');
});

it('takes a network of version 6 for one guesser', () => {
  const guess = guesser();
  for (let count = 0; count < 10; count += 1) {
    assert.equal(guess(`2001:db8::${count}`), 'Unauthorized');
  }
  assert.equal(guess('2001:db8::ffff:1'), 'TooManyFailures');
  assert.equal(guess('2001:db8:0:1::1'), 'Unauthorized');
});
