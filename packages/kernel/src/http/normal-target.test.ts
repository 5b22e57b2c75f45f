// Source: RFC 3986, section 6.2.2; RFC 9112, section 3.2.2.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { normalTarget } from './normal-target.js';

const check = (target: string, normal: string) =>
  assert.equal(normalTarget(target), normal, target);

it('decodes unreserved characters of a path', () => {
  check('/api/%763/configure/database', '/api/v3/configure/database');
  check('/api/v%33/%77rite_lp?db=a', '/api/v3/write_lp?db=a');
  check('/%2e%2E/%7e%5f%2D', '/../~_-');
});

it('keeps all other characters of a path encoded, in upper case', () => {
  check('/api/items/a%2fb%c3%a4', '/api/items/a%2Fb%C3%A4');
  check('/a%3fb%23c%3b', '/a%3Fb%23c%3B');
});

it('decodes only once', () => {
  check('/api/%2576', '/api/%2576');
  check('/api/%25%37%36', '/api/%2576');
});

it('does not change the query', () => {
  check('/query?q=%73elect%20%2f', '/query?q=%73elect%20%2f');
  check('/%71uery?q=%73', '/query?q=%73');
});

it('removes scheme, host and fragment', () => {
  check('http://example.com/api/%763', '/api/v3');
  check('HTTPS://example.com?db=a', '/?db=a');
  check('http://example.com', '/');
  check('/api#/v3', '/api');
  check('/a?b#c', '/a?b');
  check('*', '*');
});

it('leaves malformed encodings unchanged', () => {
  check('/a%zz%7', '/a%zz%7');
});

it('has one form for all equivalent paths', () => {
  const segment = fc.string({ unit: fc.constantFrom(...'abcXYZ019-._~') });
  const path = fc.array(segment).map((parts) => `/${parts.join('/')}`);
  fc.assert(
    fc.property(path, fc.infiniteStream(fc.boolean()), (plain, encodes) => {
      const spelled = [...plain]
        .map((char) => {
          if (char === '/' || !encodes.next().value) return char;
          return `%${char.charCodeAt(0).toString(16)}`;
        })
        .join('');
      assert.equal(normalTarget(spelled), plain);
    }),
  );
});
