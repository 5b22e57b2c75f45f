import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { regexEffort } from '@plinth/tsdb-model/text/regex-effort.js';
import { PlanEffort } from './plan-effort.js';

describe('the effort of a regular expression', () => {
  const size = (source: string) => regexEffort(source).size;
  const steps = (source: string) => regexEffort(source).stepsPerCharacter;

  it('is its length with repetitions written out', () => {
    assert.equal(size('abc'), 4);
    assert.equal(size('a{3}'), 4);
    assert.equal(size('(ab){3}'), 10);
    assert.equal(size('((a{10}){10}){10}'), 1111);
    assert.equal(size('[abc]\\d[[:alpha:]]'), 4);
    assert.ok(size('\\pL') > 50);
  });

  it('grows with the number of simultaneous matches', () => {
    assert.equal(steps('^(host_1|host_2|host_3)$'), 1);
    assert.equal(steps('[0-9a-f]{64}'), 1);
    // A match may start at each of a thousand characters.
    assert.equal(steps('a{1000}'), 1001);
    assert.equal(steps('a*'), 2);
    assert.equal(steps('a{2,500}'), 501);
    assert.equal(steps('(a|aa)+'), 5);
    assert.ok(steps('(x+x+)+'.repeat(1000)) > 2000);
  });

  it('is limited per statement and reset for the next one', () => {
    const regex = (source: string) => ({ fields: [{ expr: { kind: 'regex', source } }] });
    const effort = new PlanEffort({ mayHaveRegexes: true });
    const hosts = Array.from({ length: 2000 }, (_, i) => `host${i}`).join('|');
    effort.begin(regex(`^(${hosts})$`));
    assert.throws(() => effort.begin(regex('a{1000}'.repeat(50))), { kind: 'plan_error' });
    effort.begin(regex('a'));
  });
});
