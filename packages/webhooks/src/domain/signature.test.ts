import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { hubSignature, standardSignature } from './signature.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const JSON_BODY = '{"action":"opened","note":"a b&c"}';

describe('signatures', () => {
  it('match the test vectors of the specification', () => {
    const check = (algorithm: 'sha1' | 'sha256', secret: string, body: string, hex: string) =>
      assert.equal(hubSignature(algorithm, secret, bytes(body)), `${algorithm}=${hex}`);
    const everybody = "It's a Secret to Everybody";
    check(
      'sha256',
      everybody,
      'Hello, World!',
      '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    );
    check('sha1', everybody, 'Hello, World!', '01dc10d0c83e72ed246219cdd91669667fe2ca59');
    check(
      'sha256',
      's3cret',
      JSON_BODY,
      '7c96a1d02a12fd4cebfa522486336fac58b0d9fd55998711a67fba2cbda6b737',
    );
    check('sha1', 's3cret', JSON_BODY, 'eb760e7398be762bbc59f2197981c4224a24374f');
    check(
      'sha256',
      's3cret',
      'payload=%7B%22action%22%3A%22opened%22%2C%22note%22%3A%22a+b%26c%22%7D',
      '402a05247408bdf03d93d33eeca4977a652356b6f062161c3563ae250feb648c',
    );
  });

  it('follow Standard Webhooks, with base64 and plain keys', () => {
    const id = '0b989ba4-242f-11e5-81e1-c7b6966d2516';
    const message = { id, timestamp: 1_700_000_000, body: bytes(JSON_BODY) };
    assert.equal(
      standardSignature('s3cret', message),
      'v1,po6ICmVa/ghQXMPGHgdSSWOTg81EysIC/iQVh66axro=',
    );
    // Test vector of the Standard Webhooks libraries.
    const example = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1_614_265_330,
      body: bytes('{"test": 2432232314}'),
    };
    assert.equal(
      standardSignature('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', example),
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });
});

it('decodes `whsec_` secrets of a valid length, and uses any other secret unchanged', () => {
  const message = { id: 'msg_1', timestamp: 1, body: Buffer.from('{}') };
  const keyOf = (sizeBytes: number): Buffer => Buffer.alloc(sizeBytes, 7);
  const check = (secret: string, key: Buffer): void => {
    const expected = createHmac('sha256', key).update('msg_1.1.{}').digest('base64');
    assert.equal(standardSignature(secret, message), `v1,${expected}`, secret);
  };
  for (const sizeBytes of [24, 64]) {
    check(`whsec_${keyOf(sizeBytes).toString('base64')}`, keyOf(sizeBytes));
  }
  for (const sizeBytes of [23, 65]) {
    const secret = `whsec_${keyOf(sizeBytes).toString('base64')}`;
    check(secret, Buffer.from(secret));
  }
  const other = `abcdef${keyOf(32).toString('base64')}`;
  check(other, Buffer.from(other));
});
