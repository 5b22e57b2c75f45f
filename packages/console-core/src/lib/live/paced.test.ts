import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Paced } from './paced.js';

it('runs immediately, and again at the end of a window with further requests', ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  let count = 0;
  const paced = new Paced(() => void count++, 5000);
  paced.request();
  assert.equal(count, 1);
  paced.request();
  paced.request();
  mock.timers.tick(4999);
  assert.equal(count, 1);
  mock.timers.tick(1);
  assert.equal(count, 2);
  // The run at the end of a window starts another window.
  paced.request();
  assert.equal(count, 2);
  mock.timers.tick(5000);
  assert.equal(count, 3);
  mock.timers.tick(60_000);
  assert.equal(count, 3);
  paced.request();
  assert.equal(count, 4);
  paced.now();
  assert.equal(count, 5);
  paced.request();
  paced.stop();
  mock.timers.tick(60_000);
  assert.equal(count, 5);
  paced.request();
  assert.equal(count, 6);
  paced.stop();
});
