import assert from 'node:assert/strict';
import { it } from 'node:test';
import { maxConnections } from './max-connections.js';

const limits = (soft: number | string): string =>
  `Limit                     Soft Limit           Hard Limit           Units     
Max processes             95989                95989                processes 
Max open files            ${soft}                 1048576              files     
Max locked memory         8388608              8388608              bytes     
`;

it('leaves a quarter of the file descriptors, and at least 192', () => {
  assert.equal(maxConnections(limits(1_048_576)), 16_384);
  assert.equal(maxConnections(limits(4096)), 3072);
  assert.equal(maxConnections(limits(512)), 320);
  assert.equal(maxConnections(limits(120)), 16);
});

it('allows 16,384 connections if the descriptor limit is unlimited or unknown', () => {
  assert.equal(maxConnections(limits('unlimited')), 16_384);
  assert.equal(maxConnections(''), 16_384);
});
