// Source: RFC 9112, sections 3.2 and 6.1; RFC 9110, sections 5.3 and 10.1.1.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { faultOfHead, headFaultResponse } from './head-fault.js';

/** The status and message for the header lines of a request. */
function faultOf(
  version: '1.0' | '1.1' | '2.0' | '2.1',
  ...lines: readonly (readonly [string, string])[]
) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const fault = faultOfHead({
    rawHeaders: lines.flat(),
    headers: Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), value])),
    httpVersionMajor: major,
    httpVersionMinor: minor,
  });
  return fault && `${fault.status} ${fault.message}`;
}
const HOST = ['Host', 'a'] as const;
const TOKEN = ['Authorization', 'Bearer x'] as const;

it('accepts one Host header in any letter case, and none in versions without it', () => {
  for (const name of ['Host', 'host', 'HOST']) assert.equal(faultOf('1.1', [name, 'a']), undefined);
  assert.equal(faultOf('1.0'), undefined);
  assert.equal(faultOf('1.0', HOST), undefined);
  for (const version of ['2.0', '2.1'] as const) {
    assert.equal(faultOf(version, [':authority', 'a']), undefined);
  }
  // Another header of the same length, and a longer one with the same prefix.
  assert.equal(faultOf('1.1', HOST, ['From', 'a'], ['Hosts', 'a']), undefined);
});

it('rejects a missing or repeated Host header before anything else', () => {
  assert.equal(faultOf('1.1'), '400 the request has no Host header');
  assert.equal(faultOf('1.1', ['From', 'a'], TOKEN, TOKEN), '400 the request has no Host header');
  const several = '400 the request has more than one Host header';
  assert.equal(faultOf('1.1', HOST, ['hOST', 'b']), several);
  assert.equal(faultOf('1.0', HOST, HOST), several);
  assert.equal(faultOf('2.0', ['host', 'a'], ['host', 'b']), several);
});

it('rejects two credentials in every version', () => {
  const several = '400 the request has more than one Authorization header';
  assert.equal(faultOf('1.1', HOST, TOKEN), undefined);
  assert.equal(faultOf('1.1', HOST, TOKEN, ['AUTHORIZATION', 'Bearer y']), several);
  assert.equal(faultOf('2.0', ['authorization', 'a'], ['authorization', 'a']), several);
  // A header of the same length that is not a credential.
  assert.equal(faultOf('1.1', HOST, TOKEN, ['If-None-Match', 'a']), undefined);
});

it('supports only one expectation', () => {
  assert.equal(faultOf('1.1', HOST, ['Expect', '100-Continue']), undefined);
  const fault = '417 unsupported expectation; use 100-continue';
  assert.equal(faultOf('1.1', HOST, ['Expect', '200-ok']), fault);
  assert.equal(faultOf('2.0', ['expect', '']), fault);
});

it('supports only one transfer coding', () => {
  assert.equal(faultOf('1.1', HOST, ['Transfer-Encoding', 'Chunked']), undefined);
  const fault = '501 unsupported transfer coding; use chunked';
  for (const codings of ['gzip, chunked', 'chunked, chunked']) {
    assert.equal(faultOf('1.1', HOST, ['Transfer-Encoding', codings]), fault);
  }
});

it('has the format of a parser error', () => {
  const { status, body } = headFaultResponse({ status: 417, message: 'no' });
  assert.deepEqual([status, String(body)], [417, '{"error":"no","data":{}}']);
});
