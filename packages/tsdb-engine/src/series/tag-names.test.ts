import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { packTags } from '@plinth/tsdb-model/series/packed-tags.js';
import { runThrough } from '@plinth/tsdb-model/time-sliced-task.js';
import { SeriesIndex } from './series-index.js';
import { TagNames } from './tag-names.js';

const column = (id: number, name: string, storedTagName?: string): Column => ({
  ...{ id, name, kind: 'tag', physicalName: storedTagName ?? name },
  ...(storedTagName !== undefined && { storedTagName }),
});
const namesOf = (columns: readonly Column[], former: readonly (readonly [string, string])[]) =>
  new TagNames({
    columns: new Map(columns.map((each) => [each.name, each])),
    formerColumns: new Map(former),
  });

it('finds the same series under present and former names, with the id of the key', () => {
  const index = new SeriesIndex(7n);
  // The new name sorts after the other tag, the key before it.
  const first = index.resolve(['host', 'room'], ['a', '1']);
  const id = index.idOf(first);
  index.names = namesOf([column(2, 'server', 'host'), column(3, 'room')], [['host', 'server']]);
  assert.equal(index.resolve(['server', 'room'], ['a', '1']), first);
  assert.equal(index.resolve(['host', 'room'], ['a', '1']), first);
  const keys = ['room', 'server'];
  assert.equal(index.resolvePacked(keys, packTags(keys, ['1', 'a'])), first);
  assert.equal(index.idOf(first), id);
  const second = index.resolvePacked(keys, packTags(keys, ['1', 'b']));
  const other = new SeriesIndex(7n);
  assert.equal(index.idOf(second), other.idOf(other.resolve(['host', 'room'], ['b', '1'])));
  assert.deepEqual(index.tagsOf(second), { keys: ['server', 'room'], values: ['b', '1'] });
  assert.deepEqual([...index.tagNames], ['server', 'room']);
  for (const tag of ['server', 'host']) {
    assert.equal(index.tagValue(second, tag), 'b');
    assert.deepEqual(index.tagValues(tag), ['a', 'b']);
    const condition = { tag, op: 'in', values: ['b'] } as const;
    assert.deepEqual(runThrough(index.select([condition], 10)), [second]);
  }
});
