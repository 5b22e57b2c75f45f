// Expected responses: webhooks, section 2.2.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CredentialUncheckable, type HttpHead, inputCheck, requestError } from '@plinth/kernel';
import { identityError } from '../errors.js';
import { openTestIdentity } from '../testing/open-test-identity.js';
import { DeleteToken } from './schemas.js';

const REQUEST = { base: 'http://127.0.0.1' } as HttpHead; // all that the API conventions read

it('formats every failure below /ops/v1', async () => {
  await using to = await openTestIdentity();
  const { conventions } = to.identity;
  const told = (error: unknown): string => {
    const { status, headers, body } = conventions.errorResponse(error, REQUEST);
    const { message, status: text, documentation_url } = JSON.parse(String(body));
    assert.equal(text, String(status));
    assert.equal(documentation_url, 'http://127.0.0.1/docs/operator');
    const retry = headers.find(([name]) => name === 'retry-after')?.[1];
    return `${status} ${message}${retry === undefined ? '' : ` (${retry})`}`;
  };
  let invalid: unknown;
  try {
    inputCheck('querystring', DeleteToken)({});
  } catch (error) {
    invalid = error;
  }
  for (const [error, expected] of [
    [requestError('json_unreadable', 'not_json'), '400 Problems parsing JSON'],
    [requestError('encoding_unacceptable', 'br'), '400 unacceptable content-encoding: br'],
    [
      requestError('gzip_corrupt', new Error('x').message, new Error('x')),
      '400 error decoding gzip stream: x',
    ],
    [requestError('body_cut'), '400 the request body is incomplete'],
    [requestError('not_authenticated'), '401 Requires authentication'],
    [identityError('page_refused', 'not yours'), '403 not yours'],
    [identityError('identity_not_found', { key: 'user:1' }), '404 Not Found'],
    [requestError('body_too_large', { limitBytes: 1 }), '413 Request body too large'],
    [identityError('identity_exists', { key: 'user:1' }), '422 Validation Failed'],
    [invalid, '422 Validation Failed'],
    [new Error('a bug'), '500 Server Error'],
    [
      new CredentialUncheckable(undefined),
      '503 the credential cannot be verified at the moment; try again (1)',
    ],
  ] as const) {
    assert.equal(told(error), expected);
  }
});
