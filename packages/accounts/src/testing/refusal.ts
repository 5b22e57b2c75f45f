import assert from 'node:assert/strict';
import type { TestResponse } from '@plinth/kernel/testing';
import type { Json } from './test-platform.js';

/**
 * The expected body of a refusal. Source: accounts, section 2.5, and the columns Ex of sections 13
 * and 14.
 */
export interface Refusal {
  readonly code: string;
  readonly status?: number;
  /** Additional members: `U` for user_message, `D` for doc_url. */
  readonly ex?: '' | 'U' | 'D' | 'UD';
  readonly type?: string;
  readonly param?: string;
  readonly extra?: Json;
}

interface ErrorBody {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly param?: unknown;
  readonly type?: unknown;
  readonly user_message?: unknown;
  readonly doc_url?: unknown;
  readonly [extra: string]: unknown;
}

/** Checks status, content type and code of a refusal. @returns its `error`. */
export function errorOf(
  { status, headers, text }: TestResponse,
  expected: Pick<Refusal, 'code' | 'status'>,
): ErrorBody {
  const { error } = JSON.parse(text) as { error?: ErrorBody };
  assert.ok(error, text);
  assert.equal(error.code, expected.code, text);
  assert.equal(status, expected.status ?? 400, text);
  assert.equal(headers['content-type'], 'application/json', text);
  assert.match(String(error.message), /^[^\n]+$/);
  return error;
}

export function assertRefused(response: TestResponse, expected: Refusal): void {
  const { code, ex = '', param, type, extra = {} } = expected;
  const error = errorOf(response, expected);
  assert.match(String(response.headers['request-id']), /^req_[0-9A-Za-z]{14}$/);
  assertMessage(error.message, param);
  assert.equal(error.param, param, response.text);
  assert.equal(error.type, type, response.text);
  assert.equal(typeof error.user_message, ex.includes('U') ? 'string' : 'undefined');
  assert.equal('doc_url' in error, ex.includes('D'), response.text);
  if (ex.includes('D')) {
    assert.match(String(error.doc_url), new RegExp(`^http://.*/docs/accounts/errors#${code}$`));
  }
  for (const [name, value] of Object.entries(extra)) assert.deepEqual(error[name], value, name);
  const known = ['code', 'message', 'param', 'type', 'user_message', 'doc_url'];
  const others = Object.keys(error).filter((name) => !known.includes(name));
  assert.deepEqual(others.sort(), Object.keys(extra).sort(), response.text);
}

/** Requires one English sentence that names the field. */
function assertMessage(message: unknown, param: string | undefined): void {
  assert.equal(typeof message, 'string');
  const text = String(message);
  assert.match(text, /^[^\n]+[.!]$/, text);
  assert.doesNotMatch(text, /undefined|null|\[object/, text);
  if (param !== undefined) {
    const field = param.split('.').findLast((part) => !/^\d+$/.test(part)) ?? param;
    assert.ok(text.includes(field), `${text} does not name ${field}`);
  }
}
