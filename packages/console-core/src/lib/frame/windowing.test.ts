import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { columnWindow, rowWindow, scrollTopOf } from './windowing.js';

const view = { rowHeight: 27, viewHeight: 540, spare: 0 };

describe('The visible rows', () => {
  it('follow the scroll position', () => {
    const at = rowWindow({ ...view, rowCount: 1000, scrollTop: 2700 });
    assert.deepEqual(at, { totalHeight: 27_000, first: 100, last: 120, top: 2700 });
  });

  it('cover a million rows within the maximum height of an element', () => {
    const rowCount = 1_000_000;
    const top = rowWindow({ ...view, rowCount, scrollTop: 0 });
    assert.ok(top.totalHeight <= 8_000_000);
    assert.equal(top.first, 0);
    const end = rowWindow({ ...view, rowCount, scrollTop: top.totalHeight - view.viewHeight });
    assert.equal(end.last, rowCount);
    assert.ok(end.first >= rowCount - 21, `${end.first}`);
  });

  it('include any row that is scrolled to', () => {
    const rowCount = 1_000_000;
    let scrollTop = 0;
    for (const row of [0, 19, 20, 500_000, 499_999, 999_999, 3]) {
      scrollTop = scrollTopOf(row, { ...view, rowCount, scrollTop });
      const { first, last } = rowWindow({ ...view, rowCount, scrollTop });
      assert.ok(first <= row && row < last, `${row} in ${first}..${last}`);
    }
  });
});

describe('The visible columns', () => {
  it('are those that overlap the box', () => {
    const ends = [100, 200, 300, 400];
    assert.deepEqual(columnWindow(ends, 0, 150), { first: 0, last: 2 });
    assert.deepEqual(columnWindow(ends, 150, 200), { first: 1, last: 4 });
    assert.deepEqual(columnWindow(ends, 100, 100), { first: 1, last: 2 });
  });
});
