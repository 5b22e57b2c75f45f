// Source: docs/OPEN-TABLES.md.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readerSnippets } from './reader-snippets.js';

const location = "file:///data/it's/open-tables/01";

it('offers ClickHouse and PyIceberg for the version with nanoseconds', () => {
  const [clickHouse, python] = readerSnippets(
    { namespace: 'home', table: 'a "b"', format_version: 3, location },
    'http://localhost:8181',
  );
  assert.deepEqual(clickHouse, [
    'ClickHouse',
    "SELECT count(*) FROM icebergLocal('/data/it''s/open-tables/01')",
  ]);
  assert.match(python?.[1] ?? '', /load_table\(\("home", "a \\"b\\""\)\)/);
  assert.match(python?.[1] ?? '', /uri="http:\/\/localhost:8181\/iceberg"/);
});

it('offers Trino and Spark for the version of Java readers', () => {
  const snippets = readerSnippets(
    { namespace: 'home__jvm', table: 'room', format_version: 2, location },
    'http://localhost:8181',
  );
  assert.deepEqual(snippets, [
    ['Trino', 'SELECT count(*) FROM plinth."home__jvm"."room" WHERE time_ns >= 0'],
    ['Spark', 'SELECT count(*) FROM plinth.`home__jvm`.`room` WHERE time_ns >= 0'],
  ]);
});

it('offers the address of a table in a bucket', () => {
  const [clickHouse] = readerSnippets(
    { namespace: 'home', table: 'room', format_version: 3, location: 's3://b/p/open-tables/01' },
    'http://localhost:8181',
  );
  assert.equal(
    clickHouse?.[1],
    "SELECT count(*) FROM icebergS3('https://s3.example.com/b/p/open-tables/01', 'access key', 'secret')",
  );
});
