// Source: RFC 9110, 8.3.1; RFC 6839, 3.1.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isJsonType } from './json-type.js';

it('recognizes JSON types in any letter case and with parameters', () => {
  const json = ['application/json', 'Application/JSON', 'application/json ; charset=utf-8'];
  for (const type of [...json, 'application/problem+json', 'application/a+b+json;x']) {
    assert.equal(isJsonType(type), true, type);
  }
  const others = [
    '',
    'text/json',
    'application/jsonl',
    'application/json, text/x',
    'a application/json',
  ];
  for (const type of [undefined, ...others, 'application/xml+jsonp', 'application/+json']) {
    assert.equal(isJsonType(type), false, type);
  }
});
